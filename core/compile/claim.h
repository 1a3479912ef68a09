// Assigns nodes to executors: in priority order, composites before their decompositions.
#pragma once

#include "executors/executor.h"
#include "program/class_plan.h"

namespace thunder {

// Replaces every node that no executor claims, or has claimed, by its decomposition, recursively. Throws naming a prim
// that none claims.
Trace descend(const Trace& trace, const Executors& executors, const CompileSettings& settings);

// Gives each node the name of the first executor that claims it. Nodes that one of these executors has claimed already
// stay with it, as do regions. Requires: a trace that descend() made. Throws naming a node that none claims.
Trace claim(const Trace& trace, const Executors& executors, const CompileSettings& settings);

// Whether each line of a claimed trace but regions would be claimed by its executor if all were asked now: of a trace
// that was claimed for other sizes of a class. Lines that are alike are asked about once.
bool is_claimed_as_before(const Trace& claimed, const SizesOfClass& of, const Executors& executors, const Op& region,
                          const CompileSettings& settings);

}  // namespace thunder
