// The meaning of a finished trace's inputs: the random state, and the values of its symbols.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/trace.h"

namespace thunder {


// Calls f(prim) for the prims of a line and of its body, in order. Recursion is as deep as the ops' definitions.
template <class F>
void for_each_prim(const Node& node, F&& f) {
  if (node.body.empty()) return f(node);
  for (const Node* inner : node.body) for_each_prim(*inner, f);
}

// The input that is the context's random state: lines draw from it, or count a call on it, and it is a constant.
std::optional<size_t> random_input(const Trace& trace);

// A symbol that is an integer argument, and its value.
struct IntegerValue {
  int64_t symbol, value;
};

// The values of a trace's symbols for arguments of these types (null: no argument) and integers. Throws, naming the
// input, when a type is not that of the trace.
std::vector<int64_t> symbol_values(const Trace& trace, std::span<const TensorType* const> types,
                                   std::span<const IntegerValue> integers = {});

// Throws when the trace has a symbol that is neither the size of an argument nor one of the integers: its value would
// be unknown.
void require_bound_symbols(const Trace& trace, std::span<const int64_t> integers = {});

}  // namespace thunder
