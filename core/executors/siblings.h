// Kernels that read the same.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Joins kernels of a fusion executor, its regions and lines, that read the same values and need nothing of each other: one kernel
// reads them once. What they read is as large as anything that they read or make, and nothing but views and other kernels lies
// between them, so that no value lives much longer. Before: claim_regions. Time is linear in the trace.
void join_siblings(Trace& trace, const Executor& executor, const Op& region);

}  // namespace thunder
