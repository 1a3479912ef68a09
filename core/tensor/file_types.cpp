#include "tensor/file_types.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace thunder {
namespace {

struct Half {
  uint16_t bits;
};

float widen(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16, fraction = h.bits & 0x3ff;
  const uint32_t exponent = h.bits >> 10 & 0x1f;
  if (exponent == 0) {
    // Subnormal: the fraction counts steps of 2^-24.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 0xffu : exponent + 112) << 23 | fraction << 13);
}

template <class T>
T widen(T v) { return v; }

template <class From, class To>
void convert(bool big_endian, const std::byte* from, int64_t n, std::byte* to) {
  for (int64_t i = 0; i < n; i++) {
    std::array<std::byte, sizeof(From)> bytes;
    std::memcpy(bytes.data(), from + i * static_cast<int64_t>(sizeof(From)), sizeof(From));
    if (big_endian) std::reverse(bytes.begin(), bytes.end());
    const To value = static_cast<To>(widen(std::bit_cast<From>(bytes)));
    std::memcpy(to + i * static_cast<int64_t>(sizeof(To)), &value, sizeof(To));
  }
}

struct Row {
  FileType type;
  uint8_t size;
  DType becomes;
  void (*convert)(bool, const std::byte*, int64_t, std::byte*);
};

template <class From, class To>
constexpr Row row(FileType type, DType becomes) {
  return {type, sizeof(From), becomes, convert<From, To>};
}

// In the order of the enumeration.
constexpr std::array kRows = {
    row<uint8_t, uint8_t>(FileType::boolean, DType::boolean), row<uint8_t, uint8_t>(FileType::u8, DType::u8),
    row<int8_t, int32_t>(FileType::i8, DType::i32),           row<uint16_t, int32_t>(FileType::u16, DType::i32),
    row<int16_t, int32_t>(FileType::i16, DType::i32),         row<uint32_t, int64_t>(FileType::u32, DType::i64),
    row<int32_t, int32_t>(FileType::i32, DType::i32),         row<int64_t, int64_t>(FileType::i64, DType::i64),
    row<uint16_t, uint16_t>(FileType::bf16, DType::bf16),     row<Half, float>(FileType::f16, DType::f32),
    row<uint32_t, uint32_t>(FileType::f32, DType::f32),       row<uint64_t, uint64_t>(FileType::f64, DType::f64),
};
static_assert([] {
  for (size_t i = 0; i < kRows.size(); i++)
    if (kRows[i].type != static_cast<FileType>(i)) return false;
  return kRows.size() == static_cast<size_t>(FileType::f64) + 1;
}());

const Row& row_of(FileType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

size_t size_of(FileType type) { return row_of(type).size; }
DType dtype_of(FileType type) { return row_of(type).becomes; }

void decode(FileType type, bool big_endian, const std::byte* from, int64_t n, std::byte* to) {
  const Row& r = row_of(type);
  if (from == to && (!big_endian || r.size == 1)) return;
  r.convert(big_endian, from, n, to);
}

std::optional<size_t> find_bad_bool(std::span<const std::byte> bools) {
  auto bad = std::find_if(bools.begin(), bools.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == bools.end()) return std::nullopt;
  return static_cast<size_t>(bad - bools.begin());
}

}  // namespace thunder
