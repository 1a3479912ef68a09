// Constant folding: evaluates nodes whose inputs are all constants.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Evaluates prims whose inputs are each filled with one known number with their reference kernels: elementwise prims of
// any size, others if every input and the result have one element. The result is a prims.full, expanded if need be.
std::optional<Trace> fold(const Trace& trace, PassContext& context);

}  // namespace thunder
