// Which nodes a fusion executor runs as one kernel.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Replaces nodes that `executor` takes together by one node of the op `region`, whose body they are. They need not be
// neighbours: nodes in between that do not depend on the region stay before it, those that do are moved behind it, and
// a node that would have to be both is not part of the region. Time is linear in the trace, times the length of the
// window that is searched. What the executor keeps of each region goes to `states`.
void claim_regions(Trace& trace, const Executor& executor, const Op& region, RegionStates& states);

}  // namespace thunder
