// A hash of nodes that does not depend on how their values are numbered.
#pragma once

#include <array>
#include <span>

#include "executors/fusion/group.h"

namespace thunder::fusion {

// 128 bits, so that nodes with equal hashes are taken as equal.
using StructuralHash = std::array<uint64_t, 2>;
StructuralHash structural_hash(std::span<const Node* const> nodes, const Store& store, const Capabilities& can);

}  // namespace thunder::fusion
