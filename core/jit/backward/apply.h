// Calls of a compiled function in a scope: under a trace it is traced along, on a tape it gets a backward.
#pragma once

#include "jit/call.h"

namespace thunder {

// The results, as part of what is recorded there; on a tape a forward and a backward program make them. The scope owns
// them, and has the error if there is one.
Values* apply(Scope& scope, Compiled& compiled, const Values& in);

}  // namespace thunder
