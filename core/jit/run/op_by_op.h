// Calls that run without a program: compiling is turned off, or was done too often.
#pragma once

#include "jit/context/context.h"
#include "tracer/function.h"

namespace thunder {

// Runs the function's ops one by one. Null or an owned status.
Status* run_op_by_op(Context& context, Function& function, const Values& in, Values& out);

// Makes results that no program made tensors of their own: dense, and no view of others.
void make_results_owned(const Allocator& allocator, std::vector<Leaf>& leaves);

// Copies results to the tensors bound in `out`, which then stand for them. Throws where one does not fit, and has
// written none then.
void copy_results_to_bound(std::string_view function, const Values& out, std::vector<Leaf>& leaves);

}  // namespace thunder
