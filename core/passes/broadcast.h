// Whether a view repeats elements of its operand, as expand does.
#pragma once

#include "ir/trace.h"

namespace thunder {

inline bool broadcasts(const Node& n, const Store& store) {
  if (!def(n).view) return false;
  const Dim many = elements(store.type(n.results[0]).shape), few = elements(store.type(n.args[0].v).shape);
  return many.constant() && few.constant() ? many.value() > few.value() : many != few;
}

}  // namespace thunder
