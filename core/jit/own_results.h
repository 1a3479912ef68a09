// What a function that ran on real tensors gave, made results as those of a program.
#pragma once

#include <string_view>
#include <vector>

#include "tracer/values.h"

namespace thunder {

// Results are memory of their own: not an argument's, a captured tensor's or another result's. Requires: the scope has
// let go.
void own_results(const Allocator& allocator, std::vector<Leaf>& leaves);

// Copies results to the tensors that are bound to them in `out`. Throws, and writes nothing, where one is of another
// type.
void bind_results(std::string_view function, const Values& out, std::vector<Leaf>& leaves);

}  // namespace thunder
