// The symbols that the sizes in a trace depend on.
#pragma once

#include <vector>

#include "ir/trace.h"

namespace thunder {

struct Symbol {
  int64_t number;
  int64_t hint;  // the value seen while tracing
};

// The symbols in the inputs' types, the lines' arguments and results; by number, each once.
std::vector<Symbol> used_symbols(const Trace& trace);
// The symbols in one expression.
std::vector<Symbol> used_symbols(Dim d);

}  // namespace thunder
