// Verifies that results have the types that their ops give them. The ir's own verify cannot do this, since the ir knows
// no ops.
#pragma once

#include "ops/registry.h"

namespace thunder {

// Runs each prim's meta function again, also in decompositions, and compares the types. Throws Error(internal) with the
// names of the pass and the line. Requires: the ir's verify accepts the trace.
void verify_types(const Trace& trace, const Registry& registry);

}  // namespace thunder
