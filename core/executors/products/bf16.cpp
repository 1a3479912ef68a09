#include "executors/products/bf16.h"

#include <algorithm>
#include <bit>

#include "executors/products/thread_scratch.h"

namespace thunder {
namespace {

// A block of a and the sums of a block of c stay in the L2 cache, a panel of b in the L1.
constexpr int64_t kRows = 192, kColumns = 512, kDepth = PairsProduct::kMaxDepth;
constexpr int64_t kTileWork = 1 << 26;  // multiply-adds of a thread's tile: about a millisecond
constexpr int64_t kThinDepth = kRows * kDepth / kThinRows;

// A thread's memory.
struct Scratch {
  alignas(64) float a[kRows * kDepth];
  alignas(64) Bf16 a_pairs[kRows * kDepth];
  alignas(64) float sums[kRows * kColumns];
};

// Keeps the memory order, unless dense rows are required.
Matrix widened(const ProductKernels& kernels, const MatrixOf<Bf16>& a, int64_t rows, int64_t columns, bool dense_rows,
               float* to) {
  if (a.column != 1 && a.row == 1 && !dense_rows) {
    for (int64_t l = 0; l < columns; l++) kernels.widen(a.data + l * a.column, rows, to + l * rows);
    return {to, 1, rows};
  }
  for (int64_t i = 0; i < rows; i++) {
    const Bf16* from = a.data + i * a.row;
    float* row = to + i * columns;
    if (a.column == 1) kernels.widen(from, columns, row);
    else
      for (int64_t l = 0; l < columns; l++)
        row[l] = std::bit_cast<float>(static_cast<uint32_t>(from[l * a.column]) << 16);
  }
  return {to, columns, 1};
}

void multiply_floats(const ProductKernels& kernels, const ProductOf<Bf16>& p, bool thin, bool add, Scratch& scratch) {
  const Matrix a = widened(kernels, p.a, p.m, p.k, thin, scratch.a);
  (thin ? kernels.thin_bf16 : kernels.small_bf16)({p.m, p.n, p.k, a, p.b, scratch.sums, p.n, add});
}

// Pairs are read in place, unless the two of a pair are not adjacent or the last one has no second element.
void multiply_pairs(MultiplyPairs multiply, const ProductOf<Bf16>& p, bool add, Scratch& scratch) {
  PairsProduct pairs{p.m, p.n, p.k, p.a.data, p.a.row, p.b, scratch.sums, p.n, add};
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

// A product of at most kRows rows and kColumns columns.
void multiply_block(const Bf16Kernels& kernels, const ProductOf<Bf16>& p, bool thin, Scratch& scratch) {
  for (int64_t i = 0; i < p.m && p.add; i++) kernels.floats.widen(p.c + i * p.c_row, p.n, scratch.sums + i * p.n);
  const int64_t depth = thin ? kThinDepth : kDepth;
  ProductOf<Bf16> part = p;
  int64_t l = 0;
  do {  // once even when k is 0: c is written
    part.k = std::min(depth, p.k - l);
    const bool add = p.add || l > 0;
    if (kernels.pairs && !thin) multiply_pairs(kernels.pairs, part, add, scratch);
    else multiply_floats(kernels.floats, part, thin, add, scratch);
    part.a.data += depth * p.a.column, part.b.data += depth * p.b.row;
    l += depth;
  } while (l < p.k);
  for (int64_t i = 0; i < p.m; i++) kernels.floats.narrow(scratch.sums + i * p.n, p.n, p.c + i * p.c_row);
}

}  // namespace

bool multiply_bf16(const Bf16Kernels& kernels, const ProductOf<Bf16>& p) {
  Scratch* scratch = thread_scratch<Scratch>();
  if (!scratch) return false;
  for (int64_t j = 0; j < p.n; j += kColumns)
    for (int64_t i = 0; i < p.m; i += kRows)
      multiply_block(kernels, block_of(p, i, j, kRows, kColumns), is_thin(p), *scratch);
  return true;
}

bool is_thin(const ProductOf<Bf16>& p) { return p.m <= kThinRows && (p.b.row == 1 || p.b.column == 1); }

Tiling tiling_of_bf16(const ProductOf<Bf16>& p) {
  return is_thin(p) ? thin_tiling(p.m, p.k) : tiling(p.m, p.n, p.k, kTileWork);
}

}  // namespace thunder
