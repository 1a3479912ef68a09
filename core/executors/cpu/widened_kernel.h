// Nodes of 16-bit reals by the kernels of f32: operands are widened before, and results rounded once after.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/table_executor.h"

namespace thunder {

// Whether some operand or result of the node is a 16-bit real.
bool has_16_bit_reals(const NodeView& view);

// A claim: whether all operands and results are on the CPU and of one dtype, f32, bf16 or f16.
bool all_tensors_are_floats(const NodeView& view, void*);

// The kernel itself for a node without 16-bit reals, else one that gives it f32 in their place. It must need no
// layouts. Throws Code::declined if the node has too many operands.
KernelPtr widened_kernel(KernelPtr kernel, const ProductKernels& kernels, const NodeView& view);

}  // namespace thunder
