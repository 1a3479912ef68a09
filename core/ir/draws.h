// The random numbers that a line draws. Random prims have them as arguments, named "state" and "ordinal" in their
// schemas; those of a composite are in its decomposition.
#pragma once

#include <optional>

#include "ir/trace.h"

namespace thunder {

struct FirstDraw {
  ValueId state;
  int64_t ordinal;
};

// The first draw of the node, or of the prims in its body. Depth is that of the ops' own definitions.
inline std::optional<FirstDraw> first_draw(const Node& node) {
  if (node.op->prim) {
    const int state = node.op->schema.find("state"), ordinal = node.op->schema.find("ordinal");
    if (state < 0 || ordinal < 0) return std::nullopt;
    return FirstDraw{node.args[static_cast<size_t>(state)].v, node.args[static_cast<size_t>(ordinal)].i};
  }
  for (const Node* inner : node.body)
    if (auto draw = first_draw(*inner)) return draw;
  return std::nullopt;
}

}  // namespace thunder
