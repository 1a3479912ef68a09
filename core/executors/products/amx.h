// One block of a product on the tile registers.
//
// This header is also compiled with instructions that not every machine has, so that it includes nothing with code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "executors/cpu/product_kernels.h"

namespace thunder {

template <class T>
struct AmxBlock {
  int64_t m = 0, n = 0, k = 0;
  MatrixOf<T> a, b;
  float* c = nullptr;  // rows are dense and `c_row` apart
  int64_t c_row = 0;
  bool add = false;
};

// T: float or Bf16. Of an f32, as many bf16 parts as kParts make up the number: with two, the product of the second ones
// is left out, and 16 of 24 bits count (Henry, Tang, Heinecke 2019: "Leveraging the bfloat16 artificial intelligence
// datatype for higher-precision computations"). Numbers that are subnormal count as zero.
template <class T, int kParts>
struct AmxKernel {
  // The largest block: its packed operands stay in the second-level cache.
  static constexpr int64_t kRows = 256, kColumns = 512, kDepth = 768 / kParts;
  static constexpr size_t kScratchBytes = static_cast<size_t>((kRows + kColumns) * kDepth * kParts) * sizeof(Bf16);

  // Any strides. `scratch` is aligned to a cache line. False, and c is as it was: a or b hold infinities, NaN, or nothing
  // but numbers too small for their parts. Requires: enable_tile_registers(). Any thread.
  static bool add_block(const AmxBlock<T>& block, void* scratch);
};

extern template struct AmxKernel<Bf16, 1>;
extern template struct AmxKernel<float, 1>;
extern template struct AmxKernel<float, 2>;

}  // namespace thunder
