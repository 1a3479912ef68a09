// Lowers a group of nodes to a loop nest.
#pragma once

#include "executors/fusion/group.h"
#include "loops/region.h"
#include "program/kernel.h"

namespace thunder::fusion {

// The nest of a region or a single node, whose nodes form `group`.
LoweredRegionOf<Size> lower(const LineView& line, const Group& group);
// The same with numbers. Requires: node.inputs and node.outputs are given.
LoweredRegion lower(const NodeView& node, const Group& group);

}  // namespace thunder::fusion
