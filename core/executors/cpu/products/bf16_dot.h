// Products of bf16 with the dot-product instructions of avx512_bf16, which multiply pairs of them.
#pragma once

#include "executors/cpu/product_kernels.h"

namespace thunder {

// c[m, n] = a[m, k] b[k, n], added to c if `add`; c's rows are dense and c_row apart. a's rows are dense, and padded
// with a zero if k is odd.
struct PairsProduct {
  int64_t m = 0, n = 0, k = 0;
  const Bf16* a = nullptr;
  int64_t a_row = 0;
  MatrixOf<Bf16> b;
  float* c = nullptr;
  int64_t c_row = 0;
  bool add = false;

  static constexpr int64_t kMaxDepth = 256;  // of k: a panel of two vectors of columns stays in the L1 cache
};

// Each element is summed in an order that depends on k alone. Subnormal numbers count as zero.
using MultiplyPairs = void (*)(const PairsProduct&);

// Requires, to be called: Machine::bf16_dot_products. Null: not compiled for this architecture.
MultiplyPairs multiply_pairs();

}  // namespace thunder
