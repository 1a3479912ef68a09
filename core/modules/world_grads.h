// Gradients of a loss that several ranks have together.
#pragma once

#include "tracer/scope.h"

namespace thunder {

// Scope::grad of the mean or the sum of the ranks' losses, as `reduction` says, by concrete tensors, which all ranks
// have in common. By others it is that of this rank's loss. Null after an error.
Values* grad_over_ranks(Scope& scope, Tensor* loss, const Values& wrt, std::string_view axis,
                        std::string_view reduction);

// How gradients travel. A dtype: they are moved in it, and added in f32 by a tree over the ranks; none: as the engine
// adds them up. Gradients by shards were added up with their gathers, in f32.
struct GradReduction {
  std::string_view axis, reduction = "mean";
  DType dtype = DType::none;
};
// The mean or the sum over the ranks of gradients that each rank has of its own, by `wrt`. Null after an error.
Values* reduce_gradients(Scope& scope, const Values& grads, const Values& wrt, const GradReduction& how);

}  // namespace thunder
