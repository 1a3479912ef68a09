// The memory locations of a trace's values while their memory is planned.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/dim_reads.h"
#include "ops/place_view.h"
#include "program/program.h"

namespace thunder {

constexpr int64_t kNever = -1;

// Where a value lies: a root has memory of its own, other values are views of a root.
struct Location {
  ValueId root = kNoValue;
  Dim offset = 0;  // bytes from the root's first element
  Shape strides;
};

struct Root {
  Place place = Place::arena;
  uint32_t index = 0;
  int64_t offset = 0;
  bool placed = false;
  int64_t made = kNever, last_use = kNever;  // indices of nodes; inputs are made before 0
  int64_t request = kNever;  // of its arena, or of its constants
};

// One thing for each value that a trace has. Most values of its store belong to other stages, and take a word.
template <class T>
class ByValue {
 public:
  void resize(const Trace& trace) {
    numbers_.assign(trace.store->size(), 0);
    uint32_t next = 1;  // the first one is nobody's
    for (const Input& input : trace.inputs) numbers_[input.value] = next++;
    for (const Node* n : trace.nodes)
      for (ValueId v : n->results) numbers_[v] = next++;
    all_.resize(next);
  }
  T& operator[](ValueId v) { return all_[numbers_[v]]; }
  const T& operator[](ValueId v) const { return all_[numbers_[v]]; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<uint32_t> numbers_;
  std::vector<T> all_;
};

struct Locations {
  ByValue<Location> at;
  ByValue<Root> roots;  // of roots alone
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
  ViewAt<Dim> view{in.strides};
  if (!place_view(op, std::span<const Dim>(trace.type(from).shape), n.args, std::span<const Dim>(trace.type(to).shape),
                  view))
    return std::nullopt;
  return Location{in.root, in.offset + view.offset * Dim(size_of(trace.type(to).dtype)), view.strides};
}

// Whether two layouts of one rank are the same.
inline bool same_strides(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Dim x, Dim y) { return is_equal(x, y); });
}
inline bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.device == b.device && a.weak == b.weak && same_strides(a.shape, b.shape);
}
// Bytes of a dense tensor.
inline Dim bytes_of(const TensorType& t) { return elements(t.shape) * Dim(size_of(t.dtype)); }

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
