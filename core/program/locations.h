// The memory locations of a trace's values while their memory is planned.
#pragma once

#include <optional>
#include <vector>

#include "ops/place_view.h"
#include "program/program.h"

namespace thunder {

constexpr int64_t kNever = -1;

// Where a value lies: a root has memory of its own, other values are views of a root.
struct Location {
  ValueId root = kNoValue;
  int64_t offset = 0;  // bytes from the root's first element
  Sizes strides;
};

struct Root {
  Place place = Place::arena;
  uint32_t index = 0;
  int64_t offset = 0;
  bool placed = false;
  int64_t request = kNever;  // of its arena
  int64_t made = kNever, last_use = kNever;  // indices of nodes; inputs are made before 0
};

struct Locations {
  std::vector<Location> at;  // by value
  std::vector<Root> roots;  // by value; of roots alone
  std::vector<bool> is_view;  // by node
  std::vector<bool> constant;  // by node: it runs once
  std::vector<int64_t> producer;  // by node: the node whose epilogue it may be; kNever: none

  const Root& root_of(ValueId v) const { return roots[at[v].root]; }
};

// The location of a view's result, given that of its operand. None: the node is no view, or the operand's strides do
// not allow one.
inline std::optional<Location> locate_view(const Trace& trace, const Node& n, const Location& in) {
  const OpDef& op = def(n);
  if (!op.view) return std::nullopt;
  const ValueId from = n.args[0].v, to = n.results[0];
  ViewOf view{in.strides};
  if (!place_view(op, concrete(trace.type(from).shape), n.args, concrete(trace.type(to).shape), view))
    return std::nullopt;
  return Location{in.root, in.offset + view.offset * static_cast<int64_t>(size_of(trace.type(to).dtype)), view.strides};
}

// Finds updates whose indices an earlier update has checked already, so that they cannot reject the call.
class IndexChecks {
 public:
  explicit IndexChecks(const Trace& trace) : trace_(trace) {}
  // Whether an earlier node of the same op has checked the same indices against an operand of this shape; if not,
  // remembers this node.
  bool has_seen_or_add(const Node& n);

 private:
  const Trace& trace_;
  std::vector<const Node*> seen_;
};

// The result of an update (its first operand with some elements changed) gets that operand's memory if nobody reads the
// operand afterwards: in the arena, or in an input that the trace writes, if no node after `last_check` may reject the
// call.
void update_in_place(const Trace& trace, const Kernels& kernels, int64_t last_check, Locations& locations);

// On devices, and in donated inputs: gives an elementwise result the memory of an operand of its type that lies as it
// does and that nobody reads afterwards. Must be called after writes, outputs and epilogues have their places.
void overwrite_operands(const Trace& trace, const Kernels& kernels, std::span<const InputPlan> inputs,
                        Locations& locations);

// Finds nodes that may be the epilogue of the node before them. The producer's operands then live until the epilogue
// has run.
void find_epilogues(const Trace& trace, const Kernels& kernels, Locations& locations);
// Once writes and outputs have their places: drops epilogues that write what their producer reads, and places a result
// that replaces the producer's result in the same memory.
void place_epilogues(const Trace& trace, const Kernels& kernels, Locations& locations);

}  // namespace thunder
