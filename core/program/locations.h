// Where the values of a trace lie while their memory is planned.
#pragma once

#include <optional>
#include <vector>

#include "ops/place_view.h"
#include "program/program.h"

namespace thunder {

constexpr int64_t kNever = -1;

// What a value is made of: a root has memory of its own, others are views of one.
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
  int64_t made = kNever, last_use = kNever;  // positions among the trace's nodes; inputs are made before 0
};

struct Locations {
  std::vector<Location> at;    // by value
  std::vector<Root> roots;     // by value; of those that are one
  std::vector<bool> is_view;   // by node
  std::vector<bool> constant;  // by node: it runs once
  std::vector<int64_t> producer;  // by node: the line before it, which it may follow part by part; kNever: none

  const Root& root_of(ValueId v) const { return roots[at[v].root]; }
};

// Where a view prim's result lies when its operand lies at `in`; none: it is no view, or these strides do not allow one.
inline std::optional<Location> view_at(const Trace& trace, const Node& n, const Location& in) {
  const OpDef& op = def(n);
  if (!op.view) return std::nullopt;
  const ValueId from = n.args[0].v, to = n.results[0];
  ViewOf view{in.strides};
  if (!place_view(op, concrete(trace.type(from).shape), n.args, concrete(trace.type(to).shape), view)) return std::nullopt;
  return Location{in.root, in.offset + view.offset * static_cast<int64_t>(size_of(trace.type(to).dtype)), view.strides};
}

// Lines that update by indices, as far as they may refuse the call.
class IndexChecks {
 public:
  explicit IndexChecks(const Trace& trace) : trace_(trace) {}
  // Whether an earlier line of the op has looked at these very indices, for an operand of this shape; remembers the line.
  bool has_seen(const Node& n);

 private:
  const Trace& trace_;
  std::vector<const Node*> seen_;
};

// Results that are an operand with some elements changed come to lie in that operand's memory, where nobody else reads it
// afterwards: in the arena, or in an input that the trace writes, if nothing after `last_check` may refuse the call.
void update_in_place(const Trace& trace, const Preparer& preparer, int64_t last_check, Locations& locations);

// Which lines may follow the one before them. Their producer's operands live until they have run.
void find_epilogues(const Trace& trace, const Preparer& preparer, Locations& locations);
// Once writes and outputs are placed: keeps those that write nothing that their producer reads, and makes what they replace in its
// own memory.
void place_epilogues(const Trace& trace, const Preparer& preparer, Locations& locations);

}  // namespace thunder
