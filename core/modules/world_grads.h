// Gradients of a loss that several ranks have together.
#pragma once

#include "tracer/scope.h"

namespace thunder {

// Scope::grad of the mean or the sum of the ranks' losses, as `reduction` says, by concrete tensors, which all ranks
// have in common. By others it is that of this rank's loss. Null after an error.
Values* grad_over_ranks(Scope& scope, Tensor* loss, const Values& wrt, std::string_view axis,
                        std::string_view reduction);

}  // namespace thunder
