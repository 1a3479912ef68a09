// From lines to a loop nest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executors/executor.h"
#include "executors/fusion/group.h"
#include "loops/region.h"

namespace thunder::fusion {

// The nest of a region or of a single line, whose lines the group is of. `input`: where it would run part by part
// behind the step that makes this one. Requires: node.inputs and node.outputs are there.
LoweredRegion lower(const NodeView& node, const Group& group, std::optional<size_t> input = std::nullopt);

}  // namespace thunder::fusion
