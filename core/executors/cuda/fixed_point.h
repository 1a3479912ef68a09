// Sums of real numbers of at most 32 bits that are the same in any order: each place keeps the exponent of the greatest
// value that goes there, and the values are added as integers, in units of a fraction of 2 to that exponent.
#pragma once

#include "executors/cuda/kernel_rules.h"

namespace thunder::cuda_kernels {

struct FixedPoint {
  // What places have: the sum, and the exponent. Up to kFew of them are a block's own, in its shared memory.
  static constexpr size_t kBytes = sizeof(int64_t) + sizeof(uint32_t);
  static constexpr int64_t kFew = 4096;  // mirrored in the text
  static bool supports(DType d) { return is_real(d) && size_of(d) <= sizeof(float); }
  // So many bits of the greatest value are kept: at least 32 of those that 2^30 values leave of 62.
  static int64_t scale_bits(int64_t count) {
    int64_t bits = 62;
    for (; count > 0; count /= 2) bits--;
    return bits;
  }
};

// Exponents are those of floats, biased, and 0 where nothing is added; a value without one sets a bit above them.
// add_to_shared() takes two sums of 32 bits, which shared memory has and of 64 bits has not.
#define THUNDER_CUDA_FIXED_POINT                                                                                      \
  "enum { most_of_exponents = 255, plus_infinity = 256, minus_infinity = 512, not_a_number = 1024 };\n"               \
  "__device__ inline u32 exponent_of(float v) {\n"                                                                    \
  "  const u32 bits = __float_as_uint(v), exponent = bits >> 23 & 255;\n"                                             \
  "  if (exponent == 255) return bits << 9 ? not_a_number : bits >> 31 ? minus_infinity : plus_infinity;\n"           \
  "  return exponent ? exponent : 1;\n"                                                                               \
  "}\n"                                                                                                               \
  "__device__ inline void raise(u32* to, u32 exponent) {\n"                                                           \
  "  if (exponent > most_of_exponents) atomicOr(to, exponent);\n"                                                     \
  "  else if (*(volatile u32*)to < exponent) atomicMax(to, exponent);\n"                                              \
  "}\n"                                                                                                               \
  "__device__ inline double power_of_two(i64 n) { return __longlong_as_double((n + 1023) << 52); }\n"                 \
  "__device__ inline i64 in_units(float v, u32 exponent, i64 bits) {\n"                                               \
  "  return exponent > most_of_exponents ? 0 : llrint((double)v * power_of_two(bits + 126 - (i64)exponent));\n"       \
  "}\n"                                                                                                               \
  "__device__ inline double real_sum(i64 sum, u32 exponent, i64 bits) {\n"                                            \
  "  if (exponent <= most_of_exponents) return (double)sum * power_of_two((i64)exponent - 126 - bits);\n"             \
  "  const bool both = (exponent & plus_infinity) && (exponent & minus_infinity);\n"                                  \
  "  const u32 word = both || (exponent & not_a_number) ? 0x7fc00000u : exponent & plus_infinity ? 0x7f800000u\n"     \
  "                                                                                              : 0xff800000u;\n"   \
  "  return __uint_as_float(word);\n"                                                                                 \
  "}\n"                                                                                                               \
  "__device__ inline void add_to_shared(i64* to, i64 v) {\n"                                                          \
  "  u32* const words = (u32*)to;\n"                                                                                  \
  "  const u32 low = (u32)v, old = atomicAdd(words, low);\n"                                                          \
  "  const u32 high = (u32)((u64)v >> 32) + (old + low < low);\n"                                                     \
  "  if (high) atomicAdd(words + 1, high);\n"                                                                         \
  "}\n"

}  // namespace thunder::cuda_kernels
