// Nodes of 16-bit reals by the prepared ops of f32: operands are widened before, and results rounded once after.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/table_executor.h"

namespace thunder {

// Whether some operand or result of the node is a 16-bit real.
bool has_16_bit_reals(const NodeView& view);

// A claim: whether all operands and results are on the CPU and of one dtype, f32, bf16 or f16.
bool all_tensors_are_floats(const NodeView& view, void*);

// The op itself for a node without 16-bit reals, else one that gives it f32 in their place. `scratch`: the bytes that
// the op needs for each call, and then those that the result needs. Null: the node has too many operands.
PreparedOpPtr widened_op(PreparedOpPtr op, const ProductKernels& kernels, const NodeView& view, size_t* scratch);

}  // namespace thunder
