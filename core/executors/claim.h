// Who runs what: the executors in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"

namespace thunder {

using Executors = std::vector<Ref<Executor>>;  // highest priority first

// Every line that no executor accepts is replaced by its decomposition, down to what one accepts. Throws naming the
// prim that nobody takes.
Trace descend(const Trace& trace, const Executors& executors);

// Requires: a descended trace. Each line gets the name of the first executor that accepts it.
Trace claim(const Trace& trace, const Executors& executors);

}  // namespace thunder
