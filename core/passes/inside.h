// Properties of a node that depend on all nodes of its decomposition.
#pragma once

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

}  // namespace thunder
