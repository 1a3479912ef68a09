// From claimed nodes to kernels.
#pragma once

#include "compile/compilation.h"

namespace thunder {

// Asks the executor that claimed each node for its kernel, except for views, and begins a program of them. A node that
// it declines goes to the next executor that claims it too; if there is none, the nodes of its body are claimed anew.
// Throws when no executor is left or when preparing fails, naming executor, op and the user's line, and when `check`
// reports an interrupt. Requires: a claimed trace.
void lower(Compilation& compilation);

}  // namespace thunder
