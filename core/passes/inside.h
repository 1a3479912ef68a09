// Properties of a node that depend on all nodes of its decomposition.
#pragma once

#include <vector>

#include "ir/trace.h"

namespace thunder {

// Calls f(node) for the node and all nodes of its decomposition. The recursion is as deep as ops' definitions nest.
template <class F>
void for_each_inside(const Node& node, F&& f) {
  f(node);
  for (const Node* inner : node.body) for_each_inside(*inner, f);
}

inline bool is_pure(const Node& node) {
  bool pure = true;
  for_each_inside(node, [&](const Node& n) { pure &= n.op->pure; });
  return pure;
}

// For each value whether it depends on one of the given ones.
inline std::vector<bool> dependents(const Trace& trace, std::span<const ValueId> on) {
  std::vector<bool> out(trace.store->size(), false);
  for (ValueId v : on) out[v] = true;
  for (const Node* n : trace.nodes) {
    bool any = false;
    for_each_inside(*n, [&](const Node& inner) { for_each_value(inner.args, [&](ValueId v) { any |= out[v]; }); });
    for (ValueId r : n->results)
      if (any) out[r] = true;
  }
  return out;
}

}  // namespace thunder
