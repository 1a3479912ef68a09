// A trace as text: a Lua chunk that a person can read, a Lua interpreter can run, and parse reads back.
// The grammar is in parse.h.
#pragma once

#include <span>
#include <string>

#include "ir/trace.h"

namespace thunder {

struct PrintOptions {
  bool ids = false;  // values are numbered as the store has them, which is the same in all stages of a compile
  // Sorted: results that lie in memory as [N, H, W, C], after whose types {1,3,2,0} stands: the dims, from the one that
  // varies fastest.
  std::span<const ValueId> channels_last = {};
  bool bodies = false;  // each composite's decomposition below it, as comments; inner values are u[k]
};

// Depends on the trace alone, not on its store's ids: values are numbered in the order in which they are defined.
std::string print(const Trace& trace, PrintOptions options = {});

// One line of a trace without its comment, "t[3] = add(t[1], t[2])"; for messages.
std::string print_line(const Trace& trace, const Node& node);

}  // namespace thunder
