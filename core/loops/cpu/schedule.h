// The order of a nest's loops, for CPUs.
#pragma once

#include "base/machine.h"
#include "loops/cpu/nest.h"

namespace thunder::loops {

// In: axes in any order, all counted as outer, then those that only picks walk. Out: outer axes, inner ones, the lane
// last in its class, neighbours merged where every map walks them as one; each expression's axes and level.
// `reduced`: the axes that the reductions reduce.
void schedule(CpuNest& nest, AxisSet reduced, const Machine& machine);

// The same, as rows and columns of the argument `input`: one outer axis, and one inner axis made of `columns`, which vectors run
// along. False, and the nest is spoilt: other axes are walked, or an element depends on others or on where it stands.
bool schedule_tiles(CpuNest& nest, AxisSet columns, uint32_t input);

}  // namespace thunder::loops
