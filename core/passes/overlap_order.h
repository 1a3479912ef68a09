// In which order collectives start among the lines of a claimed trace.
#pragma once

#include "ir/trace.h"

namespace thunder {

bool is_start(const Node& n);
bool is_wait(const Node& n);
bool is_scatter(const Node& n);

// Collectives of a unit of parameters, which start as one.
struct StartGroup {
  std::vector<size_t> starts;  // by node of the trace, ascending
  size_t bytes = 0;            // of the whole parameters, or gradients
};

struct StartOrder {
  std::vector<const Node*> nodes;  // without waits
  std::vector<StartGroup> groups;
};

// What may wait beside a computation, of collectives the largest of which has `most` bytes.
inline size_t most_ahead(size_t most) { return most + most / 4; }

// Each collective directly behind the last of its operands, with what prepares them. Those of a unit of parameters are
// together: its gathers start when a unit before it is read, so that one is on its way while one is used; the sums of
// its gradients start when the last of these is there.
StartOrder order_starts(const Trace& trace);

}  // namespace thunder
