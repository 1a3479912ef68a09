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

// Whether a line would be claimed by its executor if all were asked now: one that was claimed for other sizes of a
// class, with numbers.
bool is_claimed_as_before(const Node& line, const Store& store, const Executors& executors,
                          const CompileSettings& settings);
// The lines of a claimed trace that another executor may take at other sizes: one that comes before the claimant, or an
// executor of the caller's, whose claims may depend on sizes; of a region, one of its body. Any of ours takes views of
// any size.
std::vector<uint32_t> lines_to_ask_again(const Trace& claimed, const Executors& executors, const Op& region);

}  // namespace thunder
