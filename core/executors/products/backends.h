// What products can be computed with on the machine at hand.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/products/bf16_dot.h"
#include "executors/products/onednn.h"

namespace thunder {

// How much of f32 operands products must keep, as the option float32_matmul_precision names it.
enum class Precision : uint8_t {
  highest,  // all
  high,     // two bf16 parts of each number
  medium,   // one
};

struct Backends {
  const ProductKernels& kernels;        // our own, for these instructions
  Instructions instructions;
  const Library* library;        // oneDNN; null: it is not there
  MultiplyPairs pairs;           // products of pairs of bf16; null: the processor has none
  bool tile_registers;           // AMX
  Precision precision;
};

}  // namespace thunder
