// The kernels of all executors for CPUs that are compiled once for each instruction set, as one table.
#pragma once

#include "executors/cpu/attention/softmax.h"
#include "executors/cpu/convolution/winograd_kernels.h"
#include "executors/cpu/product_kernels.h"
#include "executors/cpu/pooling/max_pool.h"

namespace thunder {

struct IsaKernels {
  const char* name;  // of the instruction set
  ProductKernels products;
  SoftmaxKernels attention;
  WinogradKernels winograd;
  MaxPoolKernels pooling;
};

const IsaKernels& neon_kernels();
const IsaKernels& avx2_kernels();
const IsaKernels& avx512_kernels();
// Null for an instruction set that has no kernels.
const IsaKernels* kernels_for(Instructions);

}  // namespace thunder
