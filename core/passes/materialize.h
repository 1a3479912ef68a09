// Inserts copies of returned views into the trace, so that executors run them.
#pragma once

#include "passes/pass.h"

namespace thunder {

// A result that is an argument, or a view of some elements or in another order, must be copied when the call ends. As
// nodes these copies can fuse with other nodes that read the same tensors, and run on all threads. A reshape of a
// computed tensor needs no copy, and a reshape of a copy needs no second one.
std::optional<Trace> materialize(const Trace& trace, PassContext& context);

}  // namespace thunder
