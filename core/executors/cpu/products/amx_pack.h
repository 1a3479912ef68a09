// Packing of operands for the AMX tile registers, with f32 split into bf16 parts. For files compiled for AMX: nothing
// here has external linkage.
//
// A register holds 16 rows of 32 bf16: of a, 16 rows of 32 depths; of b, 16 pairs of depths of 16 columns. Below, a row
// is one of a or of the transposed b. A packed operand is a sequence of steps of 32 rows and 32 depths: of each part,
// two registers. Rows and depths past the operand's end are zero.
#pragma once

#include <immintrin.h>

#include "executors/cpu/products/amx.h"

namespace thunder {
namespace {

constexpr int64_t kSide = 16, kStep = 2 * kSide, kRegister = kSide * kStep;

template <class T>
struct Operand {
  const T* data;
  int64_t row, depth;    // strides
  int64_t rows, depths;  // sizes
};

__mmask16 first_lanes_mask(int64_t n) {
  return n >= kSide ? 0xffff : n <= 0 ? 0 : static_cast<__mmask16>((1U << n) - 1);
}

// ---- splitting numbers into bf16 parts ----

template <class T, int kParts>
class Splitter;

// f32: the first part is the nearest bf16, the second one the remainder.
template <int kParts>
class Splitter<float, kParts> {
 public:
  // 32 consecutive numbers.
  void split_row(const float* from, __mmask16 left, __mmask16 right, __m512i out[kParts]) {
    alignas(64) static constexpr Bf16 kOdd[kStep] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                     33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i odd = _mm512_load_si512(kOdd);
    __m512i x[kParts], y[kParts];
    split(_mm512_maskz_loadu_epi32(left, from), x), split(_mm512_maskz_loadu_epi32(right, from + kSide), y);
    for (int p = 0; p < kParts; p++) out[p] = _mm512_permutex2var_epi16(x[p], odd, y[p]);
  }
  // 16 pairs: one number of `even` in the low half, one of `odd` in the high half.
  void split_pairs(const float* even, __mmask16 is_even, const float* odd, __mmask16 is_odd, __m512i out[kParts]) {
    __m512i x[kParts], y[kParts];
    split(_mm512_maskz_loadu_epi32(is_even, even), x), split(_mm512_maskz_loadu_epi32(is_odd, odd), y);
    for (int p = 0; p < kParts; p++)
      out[p] = _mm512_ternarylogic_epi32(upper_half_mask(), y[p], _mm512_srli_epi32(x[p], 16), 0xca);
  }
  // Compared as integers, infinities and NaN are greater than any number. From the greatest bf16 on, a first part would
  // be infinite.
  bool is_in_range() const {
    const uint32_t greatest = _mm512_reduce_max_epu32(greatest_);
    return greatest == 0 || (greatest >= kMin && greatest < 0x7f7f8000);
  }

 private:
  static constexpr uint32_t kMin = (127 - 100) << 23;  // 2^-100

  static __m512i upper_half_mask() { return _mm512_set1_epi32(static_cast<int>(0xffff0000)); }

  // Each bf16 part is in the upper 16 bits of its lane.
  void split(__m512i x, __m512i part[kParts]) {
    greatest_ = _mm512_max_epu32(greatest_, _mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff)));
    const __m512i half = _mm512_set1_epi32(0x8000);
    part[0] = _mm512_and_si512(_mm512_add_epi32(x, half), upper_half_mask());
    if constexpr (kParts > 1)
      part[1] = _mm512_add_epi32(
          _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(part[0]))), half);
  }

  __m512i greatest_ = _mm512_setzero_si512();
};

template <>
class Splitter<Bf16, 1> {
 public:
  static void split_row(const Bf16* from, __mmask16 left, __mmask16 right, __m512i out[1]) {
    out[0] = _mm512_maskz_loadu_epi16(left | static_cast<__mmask32>(right) << kSide, from);
  }
  static void split_pairs(const Bf16* even, __mmask16 is_even, const Bf16* odd, __mmask16 is_odd, __m512i out[1]) {
    const __m512i x = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(is_even, even)),
                  y = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(is_odd, odd));
    out[0] = _mm512_or_si512(x, _mm512_slli_epi32(y, 16));
  }
  static bool is_in_range() { return true; }
};

// ---- packing parts for registers ----

// Transposes 16 rows of 16 pairs.
void transpose(Bf16* pairs) {
  __m512i r[kSide], t[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; i++) r[i] = _mm512_load_si512(pairs + i * kStep);
#pragma GCC unroll 8
  for (int i = 0; i < kSide; i += 2)
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]), t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
#pragma GCC unroll 4
  for (int i = 0; i < kSide; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]), r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]), r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88), t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88),
          t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    _mm512_store_si512(pairs + i * kStep, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
    _mm512_store_si512(pairs + (i + 8) * kStep, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
  }
}

// kPairs: rows of the registers are pairs of depths, as for b; otherwise rows, as for a.
template <class T, int kParts, bool kPairs>
class Packer {
 public:
  static constexpr int64_t kStride = 2 * kRegister;  // from one part to the next

  // False: some number is out of range.
  static bool pack(const Operand<T>& o, Bf16* to) {
    Packer p{o, {}};
    const int64_t steps = (o.depths + kStep - 1) / kStep, halves = (o.rows + kStep - 1) / kStep * 2;
    const auto place = [&](int64_t half, int64_t step) {
      return to + (half / 2 * steps + step) * kParts * kStride + half % 2 * kRegister;
    };
    // Reads b in memory order.
    if (o.row == 1 || o.rows == 1)
      for (int64_t step = 0; step < steps; step++)
        for (int64_t half = 0; half < halves; half++) p.pack_depths(half * kSide, step * kStep, place(half, step));
    else
      for (int64_t half = 0; half < halves; half++)
        for (int64_t step = 0; step < steps; step++) p.pack_rows(half * kSide, step * kStep, place(half, step));
    return p.splitter.is_in_range();
  }

  // Packs one register for each part, from 16 rows with dense depths.
  void pack_rows(int64_t row, int64_t depth, Bf16* to) {
    const int64_t count = o.rows - row, depths = o.depths - depth;
    T gathered[kSide * kStep];
    const T* from = o.data + row * o.row + depth * o.depth;
    int64_t distance = o.row;
    if (o.depth != 1) from = gather(from, count, depths, gathered), distance = kStep;
    const __mmask16 left = first_lanes_mask(depths), right = first_lanes_mask(depths - kSide);
    for (int64_t i = 0; i < kSide; i++) {
      const __mmask16 valid = i < count ? 0xffff : 0;
      __m512i parts[kParts];
      splitter.split_row(from + i * distance, left & valid, right & valid, parts);
      store_parts(parts, to + i * kStep);
    }
    if constexpr (kPairs) transpose_parts(to);
  }

  // The same from 32 depths with dense rows.
  void pack_depths(int64_t row, int64_t depth, Bf16* to) {
    const __mmask16 mask = first_lanes_mask(o.rows - row);
    const int64_t count = o.depths - depth;
    const T* from = o.data + row * o.row + depth * o.depth;
    for (int64_t i = 0; i < kStep; i += 2) {
      __m512i parts[kParts];
      splitter.split_pairs(from + i * o.depth, i < count ? mask : 0, from + (i + 1) * o.depth, i + 1 < count ? mask : 0,
                           parts);
      store_parts(parts, to + i * kSide);
    }
    if constexpr (!kPairs) transpose_parts(to);
  }

  const Operand<T>& o;
  Splitter<T, kParts> splitter;

 private:
  const T* gather(const T* from, int64_t rows, int64_t depths, T* to) const {
    for (int64_t i = 0; i < kSide && i < rows; i++)
      for (int64_t d = 0; d < kStep && d < depths; d++) to[i * kStep + d] = from[i * o.row + d * o.depth];
    return to;
  }
  static void store_parts(const __m512i parts[kParts], Bf16* to) {
    for (int p = 0; p < kParts; p++) _mm512_store_si512(to + p * kStride, parts[p]);
  }
  static void transpose_parts(Bf16* to) {
    for (int p = 0; p < kParts; p++) transpose(to + p * kStride);
  }
};

}  // namespace
}  // namespace thunder
