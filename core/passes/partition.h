// Partitions a joint trace, of results and of gradients by cotangents, into the one that a call runs and the one that
// runs once the cotangents are known. What both need is saved, or computed again where that reads less memory: the
// cheapest set of values is a smallest cut (as min-cut rematerialization in PyTorch's AOTAutograd and in
// lightning-thunder).
#pragma once

#include "ops/registry.h"

namespace thunder {

// The outputs of a joint trace are results, then gradients; its last inputs are the cotangents, in which gradients are
// linear.
struct JointTrace {
  Trace trace;
  size_t results = 0;     // how many outputs are results
  size_t cotangents = 0;  // how many of the last inputs
};

struct Partition {
  // Takes the inputs without cotangents. Outputs: the results, then saved values that are neither input nor result.
  Trace forward;
  // A function of the saved values and then the cotangents. Outputs: the gradients that depend on a cotangent.
  Trace backward;
  std::vector<ValueId> saved;
  std::vector<size_t> gradients;  // by output of the backward: which gradient it is
};

// Requires: no writes. Where lines of the backward have symbols, what is saved says what they stand for.
Partition partition(JointTrace joint);

// The backward for some of the cotangents, those of others being zero: of what was saved the values that it reads, and
// the cotangents that are reached; of its outputs those that are wanted and depend on these cotangents.
struct PartialBackward {
  Trace trace;
  std::vector<size_t> saved, outputs;  // which of the backward's
};
PartialBackward partial_backward(const Registry& registry, const Trace& backward, const std::vector<bool>& reached,
                                 const std::vector<bool>& wanted);

}  // namespace thunder
