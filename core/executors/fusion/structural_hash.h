// Hashes of nodes that do not depend on how their values are numbered, nor on where the nodes stand: those of equal
// layers are equal. They have 128 bits, so that what has equal hashes is taken as equal.
#pragma once

#include <array>
#include <span>

#include "executors/fusion/group.h"

namespace thunder::fusion {

using StructuralHash = std::array<uint64_t, 2>;
struct HashOfHash {
  size_t operator()(const StructuralHash& h) const { return h[0]; }
};

StructuralHash structural_hash(std::span<const Node* const> nodes, const Store& store, const Capabilities& can);
// Equal also for nodes of other sizes that neither a group nor the search for one can distinguish: the same sizes are
// equal, divide each other, are large, or make sums go by rows. Requires: fusion claims them.
StructuralHash hash_for_any_size(std::span<const Node* const> nodes, const Store& store, const Capabilities& can);
// The hash of these nodes as they are lowered: also which of their values come from outside and which are results, in
// which order, how these lie in memory, and the target. `nodes`: those of the view's node.
StructuralHash laid_out_hash(const NodeView& view, std::span<const Node* const> nodes, const Target& target);

}  // namespace thunder::fusion
