// Dead code elimination: removes nodes whose results are not used.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Keeps the nodes that outputs and writes depend on, and nodes that are not pure.
std::optional<Trace> dce(const Trace& trace, PassContext& context);

}  // namespace thunder
