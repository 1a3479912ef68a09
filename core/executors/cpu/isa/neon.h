// Vectors of NEON, of which there are 32. Nothing here has a name outside of the file that includes it.
#pragma once

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr const char* kName = "neon";
  static constexpr int64_t kLanes = 4, kRows = 12;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
  typedef uint16_t H __attribute__((vector_size(kLanes * sizeof(uint16_t)), aligned(sizeof(uint16_t)), may_alias));
  static I load_widened(const uint16_t* p) { return __builtin_convertvector(*reinterpret_cast<const H*>(p), I); }
  // Converted as in ir/elements.h, since tests compile this for other processors, which lack NEON's conversions.
  static V from_f16(const uint16_t* p) {
    const I bits = load_widened(p), sign = (bits & 0x8000) << 16, u = (bits & 0x7fff) << 13;
    const I scaled = reinterpret_cast<I>(reinterpret_cast<V>(u) * 0x1p112f);
    return reinterpret_cast<V>(sign | (u >= 31 << 23 ? u | 0xff << 23 : scaled));
  }
  static H to_f16(V v) {
    constexpr int32_t kInfinity = 0xff << 23, kTooLarge = 143 << 23, kLeastNormal = 113 << 23, kShift = 126 << 23;
    const I all = reinterpret_cast<I>(v), u = all & 0x7fffffff, sign = (all ^ u) >> 16 & 0x8000;
    const I normal = (u - (112 << 23) + 0xfff + (u >> 13 & 1)) >> 13;
    const I small = reinterpret_cast<I>(reinterpret_cast<V>(u) + __builtin_bit_cast(float, kShift)) - kShift;
    const I large = u > kInfinity ? 0x7e00 | (u >> 13 & 0x3ff) : I{} + 0x7c00;
    return __builtin_convertvector(sign | (u >= kTooLarge ? large : u < kLeastNormal ? small : normal), H);
  }
};

}  // namespace
}  // namespace thunder
