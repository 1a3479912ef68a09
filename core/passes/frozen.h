// Which nodes are computed once because they depend on frozen inputs alone.
#pragma once

#include <vector>

#include "ops/op.h"

namespace thunder {

enum class Computed : uint8_t {
  each_time,
  either,  // depends on no input at all
  once,    // depends on frozen inputs alone; not views, which cost nothing
};

std::vector<Computed> when_computed(const Trace& trace);  // by node

// Whether a node may join a region that begins with a node of the other kind: in one region with others it would be
// computed at each call.
inline bool may_join(Computed node, Computed first) {
  return first == Computed::once ? node != Computed::each_time : node != Computed::once;
}

}  // namespace thunder
