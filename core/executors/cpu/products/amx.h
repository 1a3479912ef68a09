// One block of a product on the AMX tile registers.
//
// This header is also compiled with instructions that not every machine has, so it includes nothing with code.
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

// T: float or Bf16. An f32 is the sum of kParts bf16 numbers: with two, the product of the low parts is left out, and
// 16 of 24 bits count (Henry, Tang, Heinecke 2019: "Leveraging the bfloat16 artificial intelligence datatype for
// higher-precision computations"). Subnormal numbers count as zero.
template <class T, int kParts>
struct AmxKernel {
  // The largest block: its packed operands stay in the L2 cache.
  static constexpr int64_t kRows = 256, kColumns = 512, kDepth = 768 / kParts;
  static constexpr size_t kScratchBytes = static_cast<size_t>((kRows + kColumns) * kDepth * kParts) * sizeof(Bf16);

  // Any strides. `scratch` is aligned to a cache line. False, and c is unchanged: a or b has infinities, NaN, or only
  // numbers too small to split. Requires: enable_tile_registers(). Any thread.
  static bool add_block(const AmxBlock<T>& block, void* scratch);
};

extern template struct AmxKernel<Bf16, 1>;
extern template struct AmxKernel<float, 1>;
extern template struct AmxKernel<float, 2>;

}  // namespace thunder
