// Assigns nodes to executors: in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Replaces every node that no executor claims, or has claimed, by its decomposition, recursively. Throws naming a prim
// that none claims.
Trace descend(const Trace& trace, const Executors& executors, const CompileSettings& settings);

// Gives each node the name of the first executor that claims it. Nodes that one of these executors has claimed already
// stay with it, as do regions. Requires: a trace that descend() made. Throws naming a node that none claims.
Trace claim(const Trace& trace, const Executors& executors, const CompileSettings& settings);

// Whether each line of a claimed trace but regions would be claimed by its executor if all were asked now: of a trace
// that was claimed for other sizes. `alike`: by line, the first one that is like it, which answers for it.
bool is_claimed_as_before(const Trace& claimed, std::span<const uint32_t> alike, const Executors& executors,
                          const Op& region, const CompileSettings& settings);

}  // namespace thunder
