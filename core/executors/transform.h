// What executors substitute for nodes before gradients are taken: ops of their own, which bring their own backward.
#pragma once

#include "executors/claim.h"

namespace thunder {

// Asks the first executor that claims each node, if it has a transform. Throws naming executor, op and the user's line.
std::optional<Trace> transform(const Trace& trace, const Executors& executors, const ScopeEnvironment& environment);

}  // namespace thunder
