// Products of f16 with sums in f32: no instruction of CPUs multiplies f16 into f32, so operands are widened.
#pragma once

#include "executors/cpu/products.h"
#include "ir/elements.h"

namespace thunder {

// One product on this thread, any strides. Each element is summed in f32, in an order that depends on k alone, and
// rounded once. False: out of memory.
bool multiply_f16(const ProductKernels& kernels, const ProductOf<f16>& p);

// The tiles for threads, by the sizes alone. Requires: neither m nor n is 0.
Tiling tiling_of_f16(const ProductOf<f16>& p);

}  // namespace thunder
