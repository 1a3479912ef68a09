// Sums of what was summed over ranks.
#pragma once

#include "passes/pass.h"

namespace thunder {

// With `deterministic`: the sum of two reduce_scatters is that of the sum of their operands, as with one process that
// has what all ranks have. So the gradient of a parameter that is read twice, or by several micro-batches, is added up
// on each rank first, and the ranks' sums then. XLA's pass of that name.
std::optional<Trace> reassociate(const Trace& trace, PassContext& context);

}  // namespace thunder
