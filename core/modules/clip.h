// Gradients made smaller. New values, not writes: the gradients of two parameters may share their memory.
#pragma once

#include "tracer/scope.h"

namespace thunder {

// Scales all gradients so that the norm of all their elements together is at most `max_norm`. `total` (may be null)
// gets the norm before. The scope owns the results.
Values* clip_grad_norm(Scope& scope, const Values& grads, double max_norm, Tensor** total);
// Bounds each element to [-clip_value, clip_value].
Values* clip_grad_value(Scope& scope, const Values& grads, double clip_value);

}  // namespace thunder
