#include "executors/products/f16.h"

#include <algorithm>

#include "executors/products/thread_scratch.h"

namespace thunder {
namespace {

// Blocks of a and b and the sums of c, widened, stay in the L2 cache.
constexpr int64_t kRows = 192, kColumns = 256, kDepth = 256;
constexpr int64_t kTileWork = 1 << 26;  // multiply-adds of a thread's tile: about a millisecond

// A thread's memory.
struct Scratch {
  alignas(64) float a[kRows * kDepth];
  alignas(64) float b[kDepth * kColumns];
  alignas(64) float sums[kRows * kColumns];
};

const uint16_t* bits_of(const f16* p) { return reinterpret_cast<const uint16_t*>(p); }

void widen(const ProductKernels& kernels, const f16* from, int64_t n, int64_t step, float* to) {
  if (step == 1) kernels.widen_f16(bits_of(from), n, to);
  else
    for (int64_t i = 0; i < n; i++) to[i] = from[i * step];
}

// Keeps the memory order.
Matrix widened(const ProductKernels& kernels, const MatrixOf<f16>& m, int64_t rows, int64_t columns, float* to) {
  if (m.column != 1 && m.row == 1) {
    for (int64_t l = 0; l < columns; l++) widen(kernels, m.data + l * m.column, rows, 1, to + l * rows);
    return {to, 1, rows};
  }
  for (int64_t i = 0; i < rows; i++) widen(kernels, m.data + i * m.row, columns, m.column, to + i * columns);
  return {to, columns, 1};
}

// A product of at most kRows rows and kColumns columns.
void multiply_block(const ProductKernels& kernels, const ProductOf<f16>& p, Scratch& scratch) {
  for (int64_t i = 0; i < p.m && p.add; i++) widen(kernels, p.c + i * p.c_row, p.n, 1, scratch.sums + i * p.n);
  int64_t l = 0;
  do {  // once even when k is 0: c is written
    const int64_t depth = std::min(kDepth, p.k - l);
    const MatrixOf<f16> a{p.a.data + l * p.a.column, p.a.row, p.a.column},
        b{p.b.data + l * p.b.row, p.b.row, p.b.column};
    kernels.small({p.m, p.n, depth, widened(kernels, a, p.m, depth, scratch.a),
                   widened(kernels, b, depth, p.n, scratch.b), scratch.sums, p.n, p.add || l > 0});
    l += kDepth;
  } while (l < p.k);
  for (int64_t i = 0; i < p.m; i++)
    kernels.narrow_f16(scratch.sums + i * p.n, p.n, reinterpret_cast<uint16_t*>(p.c + i * p.c_row));
}

}  // namespace

bool multiply_f16(const ProductKernels& kernels, const ProductOf<f16>& p) {
  Scratch* scratch = thread_scratch<Scratch>();
  if (!scratch) return false;
  for (int64_t j = 0; j < p.n; j += kColumns)
    for (int64_t i = 0; i < p.m; i += kRows)
      multiply_block(kernels, block_of(p, i, j, kRows, kColumns), *scratch);
  return true;
}

Tiling tiling_of_f16(const ProductOf<f16>& p) {
  return p.m > kThinRows ? tiling(p.m, p.n, p.k, kTileWork) : thin_tiling(p.m, p.k);
}

}  // namespace thunder
