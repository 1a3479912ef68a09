// What verify cannot know, since the ir knows no ops: that results have the types that the ops give them.
#pragma once

#include "ops/registry.h"

namespace thunder {

// Runs each prim's meta function again, inside decompositions too, and compares. Throws Error(internal) naming the
// pass and the line. Requires: a trace that verifies.
void verify_types(const Trace& trace, const Registry& registry);

}  // namespace thunder
