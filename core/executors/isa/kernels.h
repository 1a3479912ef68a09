// The kernels of all executors for CPUs that are compiled once for each instruction set, as one table.
#pragma once

#include "executors/attention/steps.h"
#include "executors/convolution/transforms.h"
#include "executors/cpu/kernel.h"
#include "executors/pooling/maxima.h"

namespace thunder {

struct IsaKernels {
  const char* name;  // of the instruction set
  Kernels products;
  Steps attention;
  Transforms winograd;
  Maxima pooling;
};

const IsaKernels& neon_kernels();
const IsaKernels& avx2_kernels();
const IsaKernels& avx512_kernels();
// Null for an instruction set that has no kernels.
const IsaKernels* kernels_for(Instructions);

}  // namespace thunder
