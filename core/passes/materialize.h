// Returned views become copies that executors see.
#pragma once

#include "passes/pass.h"

namespace thunder {

// A result that is an argument, or a view in another order or of a part, must be copied when the call ends. As lines
// the copies fuse with what is computed from the same tensors, and have all threads. A computed tensor under another
// shape needs no copy; what comes to lie in order by being copied is not copied again under another shape.
std::optional<Trace> materialize(const Trace& trace, PassContext& context);

}  // namespace thunder
