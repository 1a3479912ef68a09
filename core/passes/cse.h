// Common subexpression elimination: of lines with one operation and equal arguments, the first stays.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Pure lines only, composites and prims. Random prims with one state and ordinal draw the same numbers, so they merge;
// a composite that draws inside its decomposition does not.
std::optional<Trace> cse(const Trace& trace, PassContext& context);

}  // namespace thunder
