// Simplifies chains of conversions and of views: merges two of a kind, and removes those that change nothing.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Merges convert(convert(x)) if the inner one is lossless, reshape(reshape(x)), permute(permute(x)) and
// expand(expand(x)). Removes each of them if its result has the type of its input.
std::optional<Trace> casts(const Trace& trace, PassContext& context);

}  // namespace thunder
