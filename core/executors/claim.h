// Who runs what: the executors in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"

namespace thunder {

using Executors = std::vector<Ref<Executor>>;  // highest priority first

// Every line that no executor accepts is replaced by its decomposition, down to what one accepts. Throws naming the
// prim that nobody takes.
Trace descend(const Trace& trace, const Executors& executors);

// Requires: a descended trace. Each line gets the name of the first executor that accepts it; what a fusion executor
// takes together becomes one line of the op `region` (the registry's) that holds its lines as its body.
Trace claim(const Trace& trace, const Executors& executors, const Op& region);

}  // namespace thunder
