// Rows that are added to zeros, and those to something else, are added to that.
#pragma once

#include "passes/pass.h"

namespace thunder {

// add(x, take_add(0, dim, index, y)) is take_add(x, dim, index, y), so that an embedding's gradient is added where the
// rest of its weight's is: no zeros, and no pass over both. Where an index stands twice, additions take place in
// another order.
std::optional<Trace> accumulate(const Trace& trace, PassContext& context);

}  // namespace thunder
