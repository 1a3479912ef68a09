// Replaces division by a broadcast divisor by multiplication with its reciprocals, which are fewer.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Does nothing without the option allow_reciprocal: results may round otherwise.
std::optional<Trace> reciprocals(const Trace& trace, PassContext& context);

}  // namespace thunder
