// The kernels and libraries that can compute products on this machine.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/products/bf16_dot.h"
#include "executors/cpu/products/onednn.h"

namespace thunder {

struct Backends {
  const ProductKernels& kernels;  // our own, for these instructions
  Instructions instructions;
  const Library* library;  // oneDNN; null: it was not found
  MultiplyPairs pairs;  // dot products of pairs of bf16; null: the processor has none
  bool tile_registers;  // AMX
};

}  // namespace thunder
