// A division by numbers that repeat becomes a multiplication by their reciprocals, which are few.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Without the option allow_reciprocal there is nothing to do: the result may round otherwise.
std::optional<Trace> reciprocals(const Trace& trace, PassContext& context);

}  // namespace thunder
