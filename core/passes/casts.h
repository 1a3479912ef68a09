// Chains of conversions and views: one stands for two, and one that changes nothing goes.
#pragma once

#include "passes/pass.h"

namespace thunder {

// convert(convert(x)) when the inner one loses nothing; reshape(reshape(x)), permute(permute(x)), expand(expand(x));
// each of them when its result has the type of its input.
std::optional<Trace> casts(const Trace& trace, PassContext& context);

}  // namespace thunder
