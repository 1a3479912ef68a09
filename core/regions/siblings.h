// Horizontal fusion: kernels that read the same values and do not depend on each other become one.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Joins kernels of each fusion executor (its regions and single nodes) that read the same values and do not depend on
// each other, so that these values are read once. The shared value is as large as anything that they read or write, and
// only views and other kernels lie between them, so that no value lives much longer. To be called after form_regions.
// Time is linear in the trace. `states` gets what the executor keeps of the joined regions.
void merge_siblings(Trace& trace, const Executors& executors, const Op& region, RegionStates& states);

}  // namespace thunder
