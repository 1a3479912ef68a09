// Turns what a function that ran on real tensors returned into results like those of a program.
#pragma once

#include <string_view>
#include <vector>

#include "tracer/values.h"

namespace thunder {

// Copies results so that each has its own memory: not an argument's, a captured tensor's or another result's. Requires:
// the scope is closed.
void make_results_owned(const Allocator& allocator, std::vector<Leaf>& leaves);

// Copies results to the tensors bound to them in `out`. Throws, and writes nothing, if a type differs.
void copy_results_to_bound(std::string_view function, const Values& out, std::vector<Leaf>& leaves);

}  // namespace thunder
