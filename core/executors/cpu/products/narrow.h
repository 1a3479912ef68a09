// Products of 16-bit reals with sums in f32. Each element is rounded once; the order of its sum depends on k and, for
// bf16, on whether there are few rows.
#pragma once

#include "executors/cpu/products/batched_product.h"
#include "executors/cpu/products/bf16_dot.h"
#include "ir/elements.h"

namespace thunder {

// The kernels for the processor at hand.
struct Bf16Kernels {
  const ProductKernels& floats;
  MultiplyPairs pairs = nullptr;  // null: operands are widened to f32
};

// One product on this thread, any strides. False: out of memory. No instruction of CPUs multiplies f16 into f32, so f16
// operands are widened.
bool multiply_bf16(const Bf16Kernels& kernels, const ProductOf<Bf16>& p);
bool multiply_f16(const ProductKernels& kernels, const ProductOf<f16>& p);

// Whether it has so few rows that reading b once matters most: then b is not packed.
bool is_thin(const ProductOf<Bf16>& p);

// The tiles for threads, by the sizes alone. Requires: neither m nor n is 0.
Tiling tiling_of_bf16(const ProductOf<Bf16>& p);

}  // namespace thunder
