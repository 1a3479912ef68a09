// Products of bf16 with sums in f32.
#pragma once

#include "executors/cpu/products.h"
#include "executors/products/bf16_dot.h"

namespace thunder {

// The kernels for the processor at hand.
struct Bf16Kernels {
  const ProductKernels& floats;
  MultiplyPairs pairs = nullptr;  // null: operands are widened to f32
};

// One product on this thread, any strides. Each element is summed in f32, in an order that depends on k and on whether
// there are few rows, and rounded once. False: out of memory.
bool multiply_bf16(const Bf16Kernels& kernels, const ProductOf<Bf16>& p);

// Whether it has so few rows that reading b once matters most: then b is not packed.
bool is_thin(const ProductOf<Bf16>& p);

// The tiles for threads, by the sizes alone. Requires: neither m nor n is 0.
Tiling tiling_of_bf16(const ProductOf<Bf16>& p);

}  // namespace thunder
