// The fusion heuristic: which nodes become one kernel.
#pragma once

#include <memory>

#include "executors/fusion/group.h"

namespace thunder::fusion {

// Grows a group from the first of these nodes, in their order: a node joins if it reads a value of the group and fits
// its loops, together with producers that it needs. Sets taken[i] to 1, and `group` to that of those nodes where it had
// to be made to find them; false: the first node begins no group.
bool grow(std::span<const Node* const> lines, const Store& store, const Capabilities& can, std::span<uint8_t> taken,
          std::shared_ptr<Group>& group);

}  // namespace thunder::fusion
