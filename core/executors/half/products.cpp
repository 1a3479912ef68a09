#include "executors/half/products.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

namespace thunder {
namespace {

// A block of a and the sums of a block of c stay in the second-level cache, a panel of b in the first.
constexpr int64_t kRows = 192, kColumns = 512, kDepth = 256;
constexpr int64_t kTileWork = 1 << 26;  // of a thread's tile, in multiply-adds: about a millisecond
constexpr int64_t kThinDepth = kRows * kDepth / kThinRows;

// A thread's memory, from its first product on.
struct Scratch {
  alignas(64) float a[kRows * kDepth];
  alignas(64) float sums[kRows * kColumns];

  // Null: out of memory.
  static Scratch* of_this_thread() {
    thread_local std::unique_ptr<Scratch> scratch;
    if (!scratch) scratch.reset(new (std::nothrow) Scratch);
    return scratch.get();
  }
};

bool thin(const ProductOf<Half>& p) { return p.m <= kThinRows && (p.b.row == 1 || p.b.column == 1); }

// In the order in which memory has them, unless rows must be dense.
Matrix widened(const Kernels& kernels, const MatrixOf<Half>& a, int64_t rows, int64_t columns, bool dense_rows, float* to) {
  if (a.column != 1 && a.row == 1 && !dense_rows) {
    for (int64_t l = 0; l < columns; l++) kernels.widen(a.data + l * a.column, rows, to + l * rows);
    return {to, 1, rows};
  }
  for (int64_t i = 0; i < rows; i++) {
    const Half* from = a.data + i * a.row;
    float* row = to + i * columns;
    if (a.column == 1) kernels.widen(from, columns, row);
    else
      for (int64_t l = 0; l < columns; l++) row[l] = std::bit_cast<float>(static_cast<uint32_t>(from[l * a.column]) << 16);
  }
  return {to, columns, 1};
}

// A product of at most kRows and kColumns.
void multiply_block(const Kernels& kernels, const ProductOf<Half>& p, bool thin, Scratch& scratch) {
  for (int64_t i = 0; i < p.m && p.add; i++) kernels.widen(p.c + i * p.c_row, p.n, scratch.sums + i * p.n);
  const int64_t depth = thin ? kThinDepth : kDepth;
  int64_t l = 0;
  do {  // once even when there is nothing to sum: c is written
    const int64_t k = std::min(depth, p.k - l);
    const Matrix a = widened(kernels, {p.a.data + l * p.a.column, p.a.row, p.a.column}, p.m, k, thin, scratch.a);
    const MatrixOf<Half> b{p.b.data + l * p.b.row, p.b.row, p.b.column};
    (thin ? kernels.thin_half : kernels.small_half)({p.m, p.n, k, a, b, scratch.sums, p.n, p.add || l > 0});
    l += depth;
  } while (l < p.k);
  for (int64_t i = 0; i < p.m; i++) kernels.narrow(scratch.sums + i * p.n, p.n, p.c + i * p.c_row);
}

}  // namespace

bool multiply_halves(const Kernels& kernels, const ProductOf<Half>& p) {
  Scratch* scratch = Scratch::of_this_thread();
  if (!scratch) return false;
  for (int64_t j = 0; j < p.n; j += kColumns)
    for (int64_t i = 0; i < p.m; i += kRows) {
      ProductOf<Half> block = p;
      block.m = std::min(kRows, p.m - i), block.n = std::min(kColumns, p.n - j);
      block.a.data += i * p.a.row, block.b.data += j * p.b.column, block.c += i * p.c_row + j;
      multiply_block(kernels, block, thin(p), *scratch);
    }
  return true;
}

Tiling tiling_of_halves(const ProductOf<Half>& p) {
  return thin(p) ? thin_tiling(p.m, p.k) : tiling(p.m, p.n, p.k, kTileWork);
}

}  // namespace thunder
