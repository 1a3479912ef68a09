// Chooses the nodes that a fusion executor runs as one kernel. Independent of devices and kinds of kernels: executors
// say what they take.
#pragma once

#include "executors/executor.h"

namespace thunder {

// A node claimed by this executor that is no region.
inline bool is_single(const Node& n, const Executor& executor, const Op& region) {
  return n.executor && n.op != &region && executor.name() == n.executor;
}
// A region formed by this executor.
inline bool is_region(const Node& n, const Executor& executor, const Op& region) {
  return n.executor && n.op == &region && executor.name() == n.executor;
}

// Whether it reads or makes a value of many elements: regions begin with such nodes first.
bool has_large_values(const Node& n, const Store& store);

// Replaces nodes that a fusion executor claimed and takes together by one node of the op `region`, whose body they are.
// They need not be neighbours: nodes in between that do not depend on the region stay before it, those that do are
// moved behind it, and a node that would have to be both is not part of the region. Time is linear in the trace, times
// the length of the window that is searched. What the executor keeps of each region goes to `states`. Requires: a
// claimed trace.
void form_regions(Trace& trace, const Executors& executors, const Op& region, RegionStates& states);

}  // namespace thunder
