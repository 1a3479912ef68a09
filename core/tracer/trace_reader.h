// Reads a trace's text with the ops of a registry: each line is recorded again, so that its types and decomposition
// are what the ops say now, whatever the text says.
#pragma once

#include <string_view>

#include "ops/registry.h"

namespace thunder {

// Throws with line and column; the result verifies.
Trace read_trace(std::string_view text, const Registry& registry);

}  // namespace thunder
