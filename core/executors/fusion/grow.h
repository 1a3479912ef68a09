// Which lines become one kernel.
#pragma once

#include "executors/fusion/group.h"

namespace thunder::fusion {

// Grows a group from the first of these lines, in their order: a line joins that reads a value of the group and can be
// walked by the same loops, and with it lines that only it was waiting for. Sets taken[i] to 1; false: the first line
// begins no group.
bool grow(std::span<const Node* const> lines, const Store& store, const Capabilities& can, std::span<uint8_t> taken);

}  // namespace thunder::fusion
