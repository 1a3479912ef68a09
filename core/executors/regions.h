// Which lines a fusion executor runs as one.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Replaces lines that `executor` takes together by one line of the op `region` that holds them as its body. They need
// not be neighbours: lines between them that depend on none of them stay before the region, the others go behind it,
// and what would then be both is left out. Time is linear in the trace, times how far a region reaches.
void claim_regions(Trace& trace, const Executor& executor, const Op& region);

}  // namespace thunder
