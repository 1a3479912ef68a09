// Accumulates the gradients of indexed rows in place of adding a tensor that is zero elsewhere.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Rewrites add(x, take_add(0, dim, index, y)) to take_add(x, dim, index, y), and scatter_add likewise. So an
// embedding's gradient is added to the rest of its weight's gradient, without a tensor of zeros and without a pass over
// both. Where an index occurs twice, the order of additions changes.
std::optional<Trace> accumulate(const Trace& trace, PassContext& context);

}  // namespace thunder
