// What the user wrote of what a line of a program computes: for messages.
#pragma once

#include <string_view>

#include "ir/trace.h"

namespace thunder {

struct Origin {
  const Node* line = nullptr;     // the one that speaks: the step's, or one inside of it
  const Node* written = nullptr;  // the user's op that it is a part of; null: none is known
};

// `written`: the trace before all passes. `says`: what the step reported, which begins with the op of the line that failed if that is
// one inside.
Origin origin_of(const Trace& written, const Node& step, std::string_view says);

}  // namespace thunder
