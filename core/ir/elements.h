// The element types in C++: one for each dtype, the only list of them, and how 16-bit reals are computed on.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "ir/dtype.h"

namespace thunder {

// bf16 in memory; computed on as float and rounded to nearest even.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  bf16(float f) {
    auto u = std::bit_cast<uint32_t>(f);
    bits = f != f ? static_cast<uint16_t>(u >> 16 | 0x40) : static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

// IEEE binary16 in memory; computed on as float and rounded to nearest even. Without branches, so that loops over
// them are vectorized whatever instructions the processor has.
struct f16 {
  uint16_t bits;
  f16() = default;
  f16(float f) {
    constexpr uint32_t kInfinity = 0xffu << 23, kTooLarge = 143u << 23, kLeastNormal = 113u << 23;
    // Added to a subnormal result, it leaves the fraction in the lowest bits, rounded by the addition.
    constexpr uint32_t kShift = 126u << 23;
    const uint32_t sign = std::bit_cast<uint32_t>(f) & 0x80000000u, u = std::bit_cast<uint32_t>(f) ^ sign;
    const uint32_t normal = (u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13;
    const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(u) + std::bit_cast<float>(kShift)) - kShift;
    const uint32_t large = u > kInfinity ? 0x7e00 | (u >> 13 & 0x3ff) : 0x7c00;
    bits = static_cast<uint16_t>(sign >> 16 | (u >= kTooLarge ? large : u < kLeastNormal ? small : normal));
  }
  operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, u = static_cast<uint32_t>(bits & 0x7fff) << 13;
    // Scaled by 2^112, which makes normal numbers of subnormal ones; infinities and NaN keep the largest exponent.
    const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(u) * 0x1p112f);
    return std::bit_cast<float>(sign | (u >= 31u << 23 ? u | 0xffu << 23 : scaled));
  }
};

template <class T>
constexpr bool kHalf = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
// The type in which an element is computed.
template <class T>
using Compute = std::conditional_t<kHalf<T>, float, T>;

// Converts an element. Reals to integers truncate and saturate in the widest integer, NaN becomes zero; integers wrap
// around; to boolean, every number but zero is true.
template <class To, class From>
To converted(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (kHalf<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++. Above zero u64 has more numbers than any other.
    if constexpr (std::is_same_v<To, uint64_t>)
      if (v >= From(0x1p63)) return v < From(0x1p64) ? static_cast<To>(v) : UINT64_MAX;
    if (!(v > From(-9.2e18) && v < From(9.2e18)))
      return v != v ? To(0) : static_cast<To>(v > 0 ? INT64_MAX : INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

// Calls f(T{}) with the element type of `d`, whichever it is.
template <class F>
auto by_element(DType d, F&& f) {
  switch (d) {
    case DType::boolean: return f(bool{});
    case DType::u8: return f(uint8_t{});
    case DType::i8: return f(int8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::i16: return f(int16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::i32: return f(int32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::i64: return f(int64_t{});
    case DType::bf16: return f(bf16{});
    case DType::f16: return f(f16{});
    case DType::f64: return f(double{});
    default: return f(float{});
  }
}

// An element as a double, in which 64-bit integers may be rounded.
template <class T>
double as_double(const T* element) {
  return static_cast<double>(static_cast<Compute<T>>(*element));
}
inline double as_double(DType d, const void* element) {
  return by_element(d, [&](auto t) { return as_double(static_cast<const decltype(t)*>(element)); });
}

}  // namespace thunder
