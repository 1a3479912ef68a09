#include "executors/cpu/products/bf16_dot.h"

#if defined(__x86_64__)

#include "executors/cpu/isa/avx512.h"
#include "executors/cpu/vectors.h"

namespace thunder {
namespace {

// Of a tile: its sums, two vectors of b and one of a fit the registers.
constexpr int64_t kRows = 12, kLanes = 16, kColumns = 2 * kLanes;
using V = Isa::V;

__mmask32 first_of_32(int64_t n) {
  return n >= 32 ? ~__mmask32{0} : static_cast<__mmask32>((uint32_t{1} << (n < 0 ? 0 : n)) - 1);
}
__mmask16 first_of_16(int64_t n) { return static_cast<__mmask16>(first_of_32(n < 16 ? n : 16)); }

// A packed panel of b: for each pair of rows, 32 columns of pairs, zero past the last column.
struct Panel {
  int64_t columns, depth;
  uint32_t* pairs;
};

void pack_rows(const MatrixOf<Bf16>& b, const Panel& p) {
  // Permutation indices of the two vectors: elements of the upper row are 32 further.
  alignas(64) uint16_t first[32], second[32];
  for (uint16_t i = 0; i < 32; i++)
    first[i] = static_cast<uint16_t>(i / 2 + i % 2 * 32), second[i] = static_cast<uint16_t>(first[i] + 16);
  const __m512i low = _mm512_load_si512(first), high = _mm512_load_si512(second);
  const __mmask32 present = first_of_32(p.columns);
  for (int64_t l = 0; l < p.depth; l += 2) {
    const __m512i upper = _mm512_maskz_loadu_epi16(present, b.data + l * b.row);
    const __m512i lower =
        l + 1 < p.depth ? _mm512_maskz_loadu_epi16(present, b.data + (l + 1) * b.row) : _mm512_setzero_si512();
    _mm512_store_si512(p.pairs + l / 2 * kColumns, _mm512_permutex2var_epi16(upper, low, lower));
    _mm512_store_si512(p.pairs + l / 2 * kColumns + kLanes, _mm512_permutex2var_epi16(upper, high, lower));
  }
}

// Columns are dense, so pairs are consecutive in memory: blocks of 16 by 16 pairs are transposed.
void pack_columns(const MatrixOf<Bf16>& b, const Panel& p) {
  for (int64_t l = 0; l < p.depth; l += 2 * kLanes)
    for (int64_t j = 0; j < kColumns; j += kLanes) {
      V block[kLanes];
      const __mmask32 present = first_of_32(p.depth - l);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; i++)
        block[i] = j + i < p.columns
                        ? reinterpret_cast<V>(_mm512_maskz_loadu_epi16(present, b.data + (j + i) * b.column + l))
                        : V{};
      Vectors<Isa>::transpose(block);
      const int64_t pairs = Vectors<Isa>::min(kLanes, (p.depth - l + 1) / 2);
      for (int64_t i = 0; i < pairs; i++) _mm512_store_ps(p.pairs + (l / 2 + i) * kColumns + j, block[i]);
    }
}

void pack_strided(const MatrixOf<Bf16>& b, const Panel& p) {
  const auto element = [&](int64_t l, int64_t j) -> uint32_t {
    return l < p.depth && j < p.columns ? b.data[l * b.row + j * b.column] : 0;
  };
  for (int64_t l = 0; l < p.depth; l += 2)
    for (int64_t j = 0; j < kColumns; j++) p.pairs[l / 2 * kColumns + j] = element(l, j) | element(l + 1, j) << 16;
}

template <int64_t kCount>
void multiply_tile(const PairsProduct& p, const Bf16* a, const Panel& panel, float* c) {
  const __mmask16 left_lanes = first_of_16(panel.columns), right_lanes = first_of_16(panel.columns - kLanes);
  __m512 left[kCount], right[kCount];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; i++) {
    left[i] = p.add ? _mm512_maskz_loadu_ps(left_lanes, c + i * p.c_row) : _mm512_setzero_ps();
    right[i] = p.add ? _mm512_maskz_loadu_ps(right_lanes, c + i * p.c_row + kLanes) : _mm512_setzero_ps();
  }
  const uint32_t* b = panel.pairs;
  for (int64_t l = 0; l < panel.depth; l += 2, b += kColumns) {
    const auto b_left = reinterpret_cast<__m512bh>(_mm512_load_si512(b)),
               b_right = reinterpret_cast<__m512bh>(_mm512_load_si512(b + kLanes));
#pragma GCC unroll 16
    for (int64_t i = 0; i < kCount; i++) {
      int32_t pair;
      __builtin_memcpy(&pair, a + i * p.a_row + l, sizeof pair);
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      left[i] = _mm512_dpbf16_ps(left[i], x, b_left);
      right[i] = _mm512_dpbf16_ps(right[i], x, b_right);
    }
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kCount; i++) {
    _mm512_mask_storeu_ps(c + i * p.c_row, left_lanes, left[i]);
    _mm512_mask_storeu_ps(c + i * p.c_row + kLanes, right_lanes, right[i]);
  }
}

// One instantiation for each number of rows.
template <int64_t kCount>
void multiply_rows(int64_t rows, const PairsProduct& p, const Bf16* a, const Panel& panel, float* c) {
  if constexpr (kCount > 1)
    if (rows < kCount) return multiply_rows<kCount - 1>(rows, p, a, panel, c);
  multiply_tile<kCount>(p, a, panel, c);
}

void multiply_in_pairs(const PairsProduct& p) {
  alignas(64) uint32_t pairs[PairsProduct::kMaxDepth / 2 * kColumns];
  for (int64_t j = 0; j < p.n; j += kColumns) {
    const Panel panel{Vectors<Isa>::min(kColumns, p.n - j), p.k, pairs};
    const MatrixOf<Bf16> b{p.b.data + j * p.b.column, p.b.row, p.b.column};
    (b.column == 1 ? pack_rows : b.row == 1 ? pack_columns : pack_strided)(b, panel);
    for (int64_t i = 0; i < p.m; i += kRows)
      multiply_rows<kRows>(Vectors<Isa>::min(kRows, p.m - i), p, p.a + i * p.a_row, panel, p.c + i * p.c_row + j);
  }
}

}  // namespace

MultiplyPairs multiply_pairs() { return multiply_in_pairs; }

}  // namespace thunder

#else

namespace thunder {

MultiplyPairs multiply_pairs() { return nullptr; }

}  // namespace thunder

#endif
