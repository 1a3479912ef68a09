// Execution transforms: executors substitute ops of their own, with their own backward, before gradients are taken.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Asks the first executor that claims each node, if it has a transform. Throws naming executor, op and the user's line.
std::optional<Trace> apply_execution_transforms(const Trace& trace, const Executors& executors,
                                               const ScopeEnvironment& environment,
                                               const CompileSettings& settings);

}  // namespace thunder
