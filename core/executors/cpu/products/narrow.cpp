#include "executors/cpu/products/narrow.h"

#include <algorithm>
#include <bit>

#include "executors/cpu/products/thread_scratch.h"

namespace thunder {
namespace {

// A block of a and the sums of a block of c stay in the L2 cache, with a panel of b in the L1 (bf16) or beside the
// widened b (f16).
constexpr int64_t kRows = 192, kDepth = PairsProduct::kMaxDepth;
template <class T>
constexpr int64_t kColumns = std::is_same_v<T, f16> ? 256 : 512;
constexpr int64_t kTileWork = 1 << 26;  // multiply-adds of a thread's tile: about a millisecond
constexpr int64_t kThinDepth = kRows * kDepth / kThinRows;

// Scratch memory of one thread.
template <class T>
struct Scratch {
  alignas(64) float a[kRows * kDepth];
  alignas(64) Bf16 a_pairs[kRows * kDepth];
  alignas(64) float sums[kRows * kColumns<T>];
};
template <>
struct Scratch<f16> {
  alignas(64) float a[kRows * kDepth];
  alignas(64) float b[kDepth * kColumns<f16>];
  alignas(64) float sums[kRows * kColumns<f16>];
};

float to_float(Bf16 bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
float to_float(f16 x) { return x; }

template <class T>
void widen(const ProductKernels& kernels, const T* from, int64_t n, int64_t step, float* to) {
  const auto widen_dense = std::is_same_v<T, f16> ? kernels.widen_f16 : kernels.widen;
  if (step == 1) widen_dense(reinterpret_cast<const uint16_t*>(from), n, to);
  else
    for (int64_t i = 0; i < n; i++) to[i] = to_float(from[i * step]);
}

// Keeps the memory order, unless dense rows are required.
template <class T>
Matrix widen_matrix(const ProductKernels& kernels, const MatrixOf<T>& m, int64_t rows, int64_t columns, bool dense_rows,
                    float* to) {
  if (m.column != 1 && m.row == 1 && !dense_rows) {
    for (int64_t l = 0; l < columns; l++) widen(kernels, m.data + l * m.column, rows, 1, to + l * rows);
    return {to, 1, rows};
  }
  for (int64_t i = 0; i < rows; i++) widen(kernels, m.data + i * m.row, columns, m.column, to + i * columns);
  return {to, columns, 1};
}

// Calls multiply_part(part, scratch) for parts of at most `depth` of each block, which adds them up in scratch.sums.
template <class T, class F>
bool multiply_by_blocks(const ProductKernels& kernels, const ProductOf<T>& p, int64_t depth, const F& multiply_part) {
  auto* const scratch = thread_scratch<Scratch<T>>();
  if (!scratch) return false;
  const auto block = [&](ProductOf<T> part) {
    T* const c = part.c;
    for (int64_t i = 0; i < part.m && p.add; i++)
      widen(kernels, c + i * p.c_row, part.n, 1, scratch->sums + i * part.n);
    int64_t l = 0;
    do {  // once even when k is 0: c is written
      part.k = std::min(depth, p.k - l), part.add = p.add || l > 0;
      multiply_part(part, *scratch);
      part.a.data += depth * p.a.column, part.b.data += depth * p.b.row;
      l += depth;
    } while (l < p.k);
    const auto narrow = std::is_same_v<T, f16> ? kernels.narrow_f16 : kernels.narrow;
    for (int64_t i = 0; i < part.m; i++)
      narrow(scratch->sums + i * part.n, part.n, reinterpret_cast<uint16_t*>(c + i * p.c_row));
  };
  for (int64_t j = 0; j < p.n; j += kColumns<T>)
    for (int64_t i = 0; i < p.m; i += kRows) block(block_of(p, i, j, kRows, kColumns<T>));
  return true;
}

// Pairs are read in place, unless the two of a pair are not adjacent or the last one has no second element.
void multiply_pairs(MultiplyPairs multiply, const ProductOf<Bf16>& p, Scratch<Bf16>& scratch) {
  PairsProduct pairs{p.m, p.n, p.k, p.a.data, p.a.row, p.b, scratch.sums, p.n, p.add};
  if (p.a.column != 1 || p.k % 2) {
    pairs.a = scratch.a_pairs, pairs.a_row = (p.k + 1) / 2 * 2;
    for (int64_t i = 0; i < p.m; i++) {
      Bf16* row = scratch.a_pairs + i * pairs.a_row;
      if (p.k % 2) row[p.k] = 0;
      for (int64_t l = 0; l < p.k; l++) row[l] = p.a.data[i * p.a.row + l * p.a.column];
    }
  }
  multiply(pairs);
}

}  // namespace

bool multiply_bf16(const Bf16Kernels& kernels, const ProductOf<Bf16>& p) {
  const ProductKernels& floats = kernels.floats;
  const bool thin = is_thin(p);
  return multiply_by_blocks(floats, p, thin ? kThinDepth : kDepth, [&](const ProductOf<Bf16>& part, auto& scratch) {
    if (kernels.pairs && !thin) return multiply_pairs(kernels.pairs, part, scratch);
    const Matrix a = widen_matrix(floats, part.a, part.m, part.k, thin, scratch.a);
    (thin ? floats.thin_bf16 : floats.small_bf16)({part.m, part.n, part.k, a, part.b, scratch.sums, part.n, part.add});
  });
}

bool multiply_f16(const ProductKernels& kernels, const ProductOf<f16>& p) {
  return multiply_by_blocks(kernels, p, kDepth, [&](const ProductOf<f16>& part, auto& scratch) {
    kernels.small({part.m, part.n, part.k, widen_matrix(kernels, part.a, part.m, part.k, false, scratch.a),
                   widen_matrix(kernels, part.b, part.k, part.n, false, scratch.b), scratch.sums, part.n, part.add});
  });
}

bool is_thin(const ProductOf<Bf16>& p) { return p.m <= kThinRows && (p.b.row == 1 || p.b.column == 1); }

Tiling tiling_of_bf16(const ProductOf<Bf16>& p) {
  return is_thin(p) ? thin_tiling(p.m, p.k) : tiling(p.m, p.n, p.k, kTileWork);
}

}  // namespace thunder
