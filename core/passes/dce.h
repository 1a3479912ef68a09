// Dead code elimination: removes nodes whose results are not used.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Keeps the nodes that outputs and writes depend on, those that are not pure, and those that may divide integers by zero.
std::optional<Trace> dce(const Trace& trace, PassContext& context);

}  // namespace thunder
