// Assigns nodes to executors: in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"

namespace thunder {

using Executors = std::vector<Ref<Executor>>;  // highest priority first

// The first executor that claims a node; null: there is none.
const Executor* claimant(const NodeView& view, const Executors& executors);

// Replaces every node that no executor claims by its decomposition, recursively. Throws naming a prim that none claims.
Trace descend(const Trace& trace, const Executors& executors);

// Gives each node the name of the first executor that claims it; nodes that a fusion executor takes together become
// one node of the op `region` (the registry's), whose body they are. Requires: a trace that descend() made. `states`:
// for prepare().
Trace claim(const Trace& trace, const Executors& executors, const Op& region, RegionStates& states);

}  // namespace thunder
