// A group: nodes that one loop nest can compute. Nodes are added one after the other, and each is checked against those
// before it.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executors/fusion/space.h"
#include "executors/fusion/prims.h"
#include "loops/target.h"

namespace thunder::fusion {

// How a value is computed by the nest.
enum class Kind : uint8_t {
  each,  // an element for each iteration; in a group with reductions, an element for each iteration or each row
  column,  // summed over the outer axes: complete only at the end of the nest, so no node of the group may read it
  total,  // summed over all axes
};

struct GroupValue {
  Coordinates coordinates;
  Kind kind = Kind::each;
  bool reduced = false;  // it depends on a reduction
  bool index_only = false;  // it depends on the loop indices alone (iota), so that it can be computed at any index
};

// An axis that is an interval of a longer one: its index i is index start + i there.
struct AxisInterval {
  AxisId axis, whole;
  Size start;
};

// Whether a target with these capabilities can compute the node: its function, element types, sizes and devices.
bool is_computable(const Node& node, const Store& store, const Capabilities& can);

// Whether an operand is so large that reading it once more costs more than storing a small result of it.
bool is_large_operand(const TensorType& type);
// Whether a reduction adds up rows that the target accumulates faster in row order.
bool sums_in_row_order(const Node& reduction, const Store& store, const Capabilities& can);

class Group {
 public:
  // `can`: the capabilities of the target for the nodes' device; it must live as long.
  Group(const Store& store, const Capabilities& can) : store_(&store), can_(&can) {}
  Group(const Store&, Capabilities&&) = delete;

  // Adds a node. False: it does not fit, why() has the reason, and the group must not be used any more; add to a copy
  // where this may happen.
  bool add(const Node& node) { return extend(node) && check_consistency(); }
  // Adds a node without the checks that are possible only when all nodes have been added: those are
  // check_consistency().
  bool extend(const Node& node);
  bool check_consistency();
  // Adds all of them; false if they cannot form one group.
  bool add_all(std::span<const Node* const> nodes);
  std::string_view rejection_reason() const { return why_; }

  const std::vector<const Node*>& nodes() const { return nodes_; }
  bool has(ValueId v) const { return values_.count(v) != 0; }
  const GroupValue& value(ValueId v) const { return values_.at(v); }
  // The coordinates at which a node of the group reads an operand that no other node of the group computes.
  Coordinates read_coordinates(const Node& node, size_t operand) const;
  // The axis whose index selects an operand of this concatenation, where all operands have one shape. None: the
  // operands are intervals of one axis.
  Dimension select_axis_of(const Node& node) const;
  // The interval of a loop axis that this axis is: all of it, unless the axis is a slice of a longer one.
  AxisInterval loop_interval(AxisId a) const;
  const Space& space() const { return space_; }
  // The axes that the nest's reductions reduce; empty: there is no reduction.
  Dimension nest_reduced_axes() const { return space_.resolve(reduced_); }
  // Whether scans run from the end of the reduced axis, whose loop then runs in that order.
  bool scans_backwards() const { return backwards_; }
  bool has_slices() const { return !slices_.empty(); }
  Device device() const { return device_; }
  // All axes of the loop nest.
  Dimension all_iteration_axes() const;
  // The loop axes that a value's coordinates use.
  Axes loop_axes(const Coordinates& c) const;

 private:
  bool reject(std::string_view why) {
    why_ = why;
    return false;
  }
  struct Read {
    ValueId input;
    const Node* node;
    size_t operand;
  };
  // The coordinates at which a node reads an operand. All readers of an input share those of the first one.
  Coordinates add_read(const Node& node, size_t operand);
  const Read* first_read(ValueId input) const;
  bool same_extents(const Dimension& a, const Dimension& b) const;
  size_t max_new_arguments(const Node& node) const;
  bool add_elementwise(const Node& node);
  bool add_view(const Node& node);
  bool add_reduction(const Node& node);
  bool add_gather(const Node& node);
  bool add_slice(const Node& node);
  bool add_concat(const Node& node);
  bool add_cat(const Node& node);
  Dimension concatenated_axis(const std::vector<Dimension>& parts, const Size& extent);
  bool add_axis_slice(const Dimension& part, const Dimension& whole, const Size& start, const Node& node);
  bool depends_on_reduction(const Node& node) const;
  bool depends_on_indices_only(const Node& node) const;
  bool slices_fit(const Axes& iteration_axes);
  bool add_scan(const Node& node);
  bool axes_are_unsplit() const;
  // Each value with the loop axes that it uses. The checks of one node share one such list, since it is slow to make.
  using ValueAxes = std::vector<std::pair<const GroupValue*, Axes>>;
  ValueAxes value_axes() const;
  Axes iteration_axes(const ValueAxes& value_axes) const;
  bool reductions_fit(const Axes& iteration_axes, const Axes& outer) const;

  const Store* store_;
  const Capabilities* can_;
  Device device_ = Device::none;  // of all nodes; none: there are no nodes yet
  Space space_;
  std::vector<const Node*> nodes_;
  std::unordered_map<ValueId, GroupValue> values_;
  std::map<std::pair<const Node*, size_t>, Coordinates> reads_;  // of inputs, by reductions, gathers and concatenations
  std::vector<Read> inputs_;  // for each input its first reader; few, and copied often
  Dimension reduced_;
  bool reduces_ = false;
  struct Reduction {
    ValueId result;
    Dimension reduced_axes;
  };
  std::vector<Reduction> reductions_;
  std::vector<Dimension> gathered_;  // the axes along which nodes gather: one each
  std::map<const Node*, Dimension> select_axes_;  // by concatenation: the axis along which it selects
  struct AxisSlice {
    Dimension part, whole;  // one axis each; no part: one index of the whole
    Size start;
    bool reduced;  // the value that is sliced or concatenated depends on a reduction
  };
  std::vector<AxisSlice> slices_;
  std::vector<Dimension> scanned_;  // the axes along which scans run: all are the one that is reduced
  bool backwards_ = false;
  bool gathers_own_values_ = false;  // some value is computed at indices other than the loops'
  size_t arguments_ = 0;  // upper bound of the kernel's arguments
  bool is_whole_ = false;  // all its nodes are given at once
  // The axes of a sum over all axes. Its operand may be an input that no other node reads, and so no value has them.
  Dimension summed_;
  std::string_view why_;
};

}  // namespace thunder::fusion
