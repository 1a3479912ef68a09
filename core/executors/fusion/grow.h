// The fusion heuristic, which finds the nodes that become one kernel.
#pragma once

#include <memory>

#include "executors/fusion/group.h"

namespace thunder::fusion {

// Grows a group from the first of these nodes. In their order, each node joins that reads a value of the group and fits
// its loops, together with producers that it needs. Sets taken[i] to 1 for these nodes. Sets `group` unless the answer
// was cached. False: the first node begins no group.
bool grow(std::span<const Node* const> nodes, const Store& store, const Capabilities& can, std::span<uint8_t> taken,
          std::shared_ptr<Group>& group);

}  // namespace thunder::fusion
