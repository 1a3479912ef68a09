// Lowers a group of nodes to a loop nest.
#pragma once

#include <optional>

#include "executors/fusion/group.h"
#include "loops/region.h"

namespace thunder::fusion {

// The nest of a region or a single node, whose nodes form `group`. `input`: set if the program wants to run the nest as
// an epilogue of the step that computes this input. Requires: node.inputs and node.outputs are given.
LoweredRegion lower(const NodeView& node, const Group& group, std::optional<size_t> input = std::nullopt);

}  // namespace thunder::fusion
