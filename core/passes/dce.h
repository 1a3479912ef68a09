// Dead code elimination: drops lines whose results nothing uses.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Keeps what outputs and writes need, and lines that are not pure.
std::optional<Trace> dce(const Trace& trace, PassContext& context);

}  // namespace thunder
