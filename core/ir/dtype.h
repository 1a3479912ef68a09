// Element types. The values are DLPack's code << 8 | bits, as in thunder.h.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace thunder {

enum class DType : int32_t {
  none = 0,
  boolean = 0x0608,
  u8 = 0x0108,
  i8 = 0x0008,
  u16 = 0x0110,
  i16 = 0x0010,
  u32 = 0x0120,
  i32 = 0x0020,
  u64 = 0x0140,
  i64 = 0x0040,
  bf16 = 0x0410,
  f16 = 0x0210,
  f32 = 0x0220,
  f64 = 0x0240,
};

// Promotion goes to the highest category first, then to the widest type in it.
enum class Category : uint8_t { boolean, integer, real };

struct DTypeInfo {
  DType dtype;
  std::string_view name;  // as printed in traces: "f32"
  std::string_view pytorch;  // as PyTorch calls it: "float32"
  uint8_t size;           // bytes of one element
  Category category;
  bool is_signed;
  uint8_t digits;  // bits of the significand; of an integer those beside its sign
  double largest;  // the greatest finite number, rounded up where a double does not hold it
  DType beside = DType::none;  // what it becomes with the other type of its category and size; none: nothing does
};

// In the order of promotion within a category, except for pairs that are promoted to a third type.
inline constexpr std::array kDTypes = {
    DTypeInfo{DType::boolean, "bool", "bool", 1, Category::boolean, false, 1, 1},
    DTypeInfo{DType::u8, "u8", "uint8", 1, Category::integer, false, 8, 0xff, DType::i16},
    DTypeInfo{DType::i8, "i8", "int8", 1, Category::integer, true, 7, 0x7f, DType::i16},
    DTypeInfo{DType::u16, "u16", "uint16", 2, Category::integer, false, 16, 0xffff},
    DTypeInfo{DType::i16, "i16", "int16", 2, Category::integer, true, 15, 0x7fff},
    DTypeInfo{DType::u32, "u32", "uint32", 4, Category::integer, false, 32, 0xffffffffp0},
    DTypeInfo{DType::i32, "i32", "int32", 4, Category::integer, true, 31, 0x7fffffffp0},
    DTypeInfo{DType::u64, "u64", "uint64", 8, Category::integer, false, 64, 0x1p64},
    DTypeInfo{DType::i64, "i64", "int64", 8, Category::integer, true, 63, 0x1p63},
    DTypeInfo{DType::bf16, "bf16", "bfloat16", 2, Category::real, true, 8, 0x1.fep127, DType::f32},
    DTypeInfo{DType::f16, "f16", "float16", 2, Category::real, true, 11, 0x1.ffcp15, DType::f32},
    DTypeInfo{DType::f32, "f32", "float32", 4, Category::real, true, 24, 0x1.fffffep127},
    DTypeInfo{DType::f64, "f64", "float64", 8, Category::real, true, 53, 0x1.fffffffffffffp1023},
};

namespace dtypes {

// Index into the table by DLPack's code and the logarithm of the size; 0: no such dtype, else the row plus one.
constexpr size_t slot(DType d) {
  const auto value = static_cast<uint32_t>(d), bits = value & 0xff;
  // A power of two, told without std::has_single_bit: that is a call into libgcc on processors without popcnt.
  const bool possible = value >> 8 < 8 && bits >= 8 && bits <= 64 && (bits & (bits - 1)) == 0;
  return possible ? (value >> 8) * 4 + static_cast<size_t>(std::countr_zero(bits)) - 3 : 32;
}
inline constexpr auto kRowOf = [] {
  std::array<uint8_t, 33> out{};
  for (size_t i = 0; i < kDTypes.size(); i++) out[slot(kDTypes[i].dtype)] = static_cast<uint8_t>(i + 1);
  return out;
}();

constexpr const DTypeInfo* find(DType d) {
  const uint8_t row = kRowOf[slot(d)];
  return row ? &kDTypes[row - 1] : nullptr;
}

}  // namespace dtypes

constexpr std::span<const DTypeInfo> all_dtypes() { return kDTypes; }
constexpr bool known(DType d) { return dtypes::find(d) != nullptr; }
// Requires: known(dtype), as everything that passed the boundary is.
constexpr const DTypeInfo& info(DType d) {
  const DTypeInfo* row = dtypes::find(d);
  return row ? *row : kDTypes[0];
}
inline std::string_view name(DType d) { return d == DType::none ? "none" : info(d).name; }
constexpr size_t size_of(DType d) { return info(d).size; }
constexpr bool is_real(DType d) { return info(d).category == Category::real; }
constexpr bool is_integer(DType d) { return info(d).category == Category::integer; }
constexpr bool is_signed(DType d) { return info(d).is_signed; }
// Whether every number of one type can be represented in the other.
bool lossless(DType from, DType to);

// "f32", and PyTorch's "float32", "bfloat16", "int64", "long" ...
std::optional<DType> find_dtype(std::string_view name);

// PyTorch's promotion knows three strengths: what has a lower one counts only if its category is higher.
enum class Strength : uint8_t { number, scalar, tensor };  // a plain number, a 0-d tensor, a tensor with dimensions

// torch.result_type of any number of operands, in any order. As in PyTorch, u16, u32 and u64 meet nothing but real
// numbers and themselves.
class Promotion {
 public:
  // Throws where the operand does not fit those before it.
  void add(DType dtype, Strength strength);
  // Requires: something was added. Throws where operands of different strengths do not fit.
  DType dtype() const;

 private:
  std::array<DType, 3> widest_{};  // of each strength; none: no operand has it
};

// The dtype of a plain number as a tensor, as torch.tensor(number) has it.
inline DType tensor_dtype(DType number) { return is_real(number) ? DType::f32 : number; }

// The dtype of a division, a root or a mean of this type: itself if real, else f32, PyTorch's default.
inline DType to_real(DType d) { return is_real(d) ? d : DType::f32; }
// The type in which a computation on it is carried out and from which it is rounded once.
constexpr bool is_half(DType d) { return d == DType::bf16 || d == DType::f16; }
constexpr DType compute_dtype(DType d) { return is_half(d) ? DType::f32 : d; }

}  // namespace thunder
