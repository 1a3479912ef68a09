// Constant folding: computes now what depends on nothing but known numbers.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Prims whose inputs are each filled with one known number, evaluated with their reference kernels: elementwise ones of
// any size, others when every input and the result has one element. The result is a prims.full, expanded.
std::optional<Trace> fold(const Trace& trace, PassContext& context);

}  // namespace thunder
