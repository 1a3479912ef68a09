// Common subexpression elimination: of nodes with the same op and equal arguments, only the first is kept.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Merges pure nodes only, both composites and prims. Random prims with the same state and ordinal draw the same
// numbers, so that they merge; a composite whose decomposition draws random numbers does not.
std::optional<Trace> cse(const Trace& trace, PassContext& context);

}  // namespace thunder
