// Products of any size on the tile registers, block by block.
#pragma once

#include "executors/cpu/products/amx.h"
#include "executors/cpu/products/thread_scratch.h"
#include "executors/cpu/products/batched_product.h"

namespace thunder {

// Scratch memory of one thread for packed operands and sums.
template <class T, int kParts>
struct AmxScratch {
  alignas(64) std::byte packed[AmxKernel<T, kParts>::kScratchBytes];
  alignas(64) float sums[std::is_same_v<T, float> ? 1 : AmxKernel<T, kParts>::kRows * AmxKernel<T, kParts>::kColumns];
};

// One product on this thread.
template <class T, int kParts>
class AmxProduct {
  using Kernel = AmxKernel<T, kParts>;

 public:
  // `fallback` multiplies blocks that cannot be split into bf16 parts. False: out of memory.
  static bool multiply(const ProductOf<T>& p, const ProductKernels& fallback) {
    auto* scratch = thread_scratch<AmxScratch<T, kParts>>();
    if (!scratch) return false;
    for (int64_t i = 0; i < p.m; i += Kernel::kRows)
      for (int64_t j = 0; j < p.n; j += Kernel::kColumns)
        multiply_by_depths(block_of(p, i, j, Kernel::kRows, Kernel::kColumns), *scratch, fallback);
    return true;
  }

 private:
  static void multiply_by_depths(const Product& p, AmxScratch<float, kParts>& scratch, const ProductKernels& fallback) {
    for_each_depth(p, p.c, p.c_row, [&](const AmxBlock<float>& t) {
      if (!Kernel::add_block(t, scratch.packed)) fallback.small({t.m, t.n, t.k, t.a, t.b, t.c, t.c_row, t.add});
    });
  }
  static void multiply_by_depths(const ProductOf<Bf16>& p, AmxScratch<Bf16, kParts>& scratch,
                                 const ProductKernels& fallback) {
    for (int64_t i = 0; i < p.m && p.add; i++) fallback.widen(p.c + i * p.c_row, p.n, scratch.sums + i * p.n);
    for_each_depth(p, scratch.sums, p.n, [&](const AmxBlock<Bf16>& t) { Kernel::add_block(t, scratch.packed); });
    for (int64_t i = 0; i < p.m; i++) fallback.narrow(scratch.sums + i * p.n, p.n, p.c + i * p.c_row);
  }

  template <class F>
  static void for_each_depth(const ProductOf<T>& p, float* c, int64_t c_row, F&& f) {
    int64_t l = 0;
    do {  // once even when k is 0: c is written
      const int64_t k = std::min(Kernel::kDepth, p.k - l);
      f({p.m,
         p.n,
         k,
         {p.a.data + l * p.a.column, p.a.row, p.a.column},
         {p.b.data + l * p.b.row, p.b.row, p.b.column},
         c,
         c_row,
         p.add || l > 0});
      l += Kernel::kDepth;
    } while (l < p.k);
  }
};

}  // namespace thunder
