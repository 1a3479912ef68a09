// Runs reference kernels on narrow integers: inputs are widened, results wrapped around.
#pragma once

#include "ops/op.h"

namespace thunder {

// The dtype as which kernels compute this one. Every result of the wider type, wrapped around, is that of the narrow.
DType kernel_dtype(DType);

// Runs the op's reference kernel, on widened copies of its narrow tensors if it has any. A kernel that refuses its
// data, or memory that is short, leaves the outputs as they were. Requires: op.has_kernel().
Status* run_reference(const OpDef& op, const KernelArgs& kernel);

}  // namespace thunder
