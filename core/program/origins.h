// For error messages: the user's op from which a failing node comes.
#pragma once

#include <string_view>

#include "ir/trace.h"

namespace thunder {

struct Origin {
  const Node* line = nullptr;  // the node that failed: the step's, or one in its body
  const Node* written = nullptr;  // the user's op that it is a part of; null: unknown
};

// `written`: the trace before all passes. `says`: the step's message, which begins with the op of the node that failed
// if that is one in its body.
Origin origin_of(const Trace& written, const Node& step, std::string_view says);

}  // namespace thunder
