// Who runs what: the executors in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"

namespace thunder {

using Executors = std::vector<Ref<Executor>>;  // highest priority first

// Replaces every node that no executor accepts by its decomposition, recursively. Throws naming the prim that nobody
// takes.
Trace descend(const Trace& trace, const Executors& executors);

// Gives each node the name of the first executor that accepts it; nodes that a fusion executor takes together become
// one node of the op `region` (the registry's), whose body they are. Requires: a trace that descend() made. `states`:
// for prepare().
Trace claim(const Trace& trace, const Executors& executors, const Op& region, RegionStates& states);

}  // namespace thunder
