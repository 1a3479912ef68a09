// Nodes that one loop nest can compute, found by adding one after the other.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executors/fusion/axes.h"
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
  bool free = false;  // it depends on the loop indices alone (iota), so it may be recomputed along any axes
};

// An axis that is an interval of a longer one: its index i is index start + i there.
struct Part {
  AxisId axis, whole;
  int64_t start;
};

// Whether a target of these capabilities can compute the node at all: its function, element types, sizes and devices.
bool computable(const Node& line, const Store& store, const Capabilities& can);

class Group {
 public:
  // `can`: the capabilities of the target for the nodes' device; it must live as long.
  Group(const Store& store, const Capabilities& can) : store_(&store), can_(&can) {}
  Group(const Store&, Capabilities&&) = delete;

  // Adds a node. False: it does not fit, `why` has the reason, and the group must not be used any more (so try on a
  // copy).
  bool add(const Node& line) { return extend(line) && consistent(); }
  // As `add`, but without the checks that hold only when all nodes of a set were added.
  bool extend(const Node& line);
  bool consistent();
  // Adds all of them; false if they cannot form one group.
  bool add_all(std::span<const Node* const> lines);
  std::string_view why() const { return why_; }

  const std::vector<const Node*>& lines() const { return lines_; }
  bool has(ValueId v) const { return values_.count(v) != 0; }
  const GroupValue& value(ValueId v) const { return values_.at(v); }
  // The coordinates at which a node of the group reads an operand that no other node of the group computes.
  Coordinates read_of(const Node& line, size_t operand) const;
  // The axis along which a node that concatenates equal operands selects among them; none: they are intervals of one
  // axis.
  Dimension select_axis_of(const Node& line) const;
  // The interval of a loop axis that an axis stands for: itself from 0 on, unless it is a part of a longer axis.
  Part loop_interval(AxisId a) const;
  const Space& space() const { return space_; }
  // The axes that the nest's reductions reduce; empty: there is no reduction.
  Dimension reduced() const { return space_.resolve(reduced_); }
  // Whether scans run from the end of the reduced axis, whose loop then runs in that order.
  bool backwards() const { return backwards_; }
  bool has_parts() const { return !parts_.empty(); }
  Device device() const { return device_; }
  // All axes of the nest.
  Dimension all() const;
  // The loop axes that a value's coordinates use.
  std::vector<AxisId> loop_axes(const Coordinates& c) const;

 private:
  bool refuse(std::string_view why) {
    why_ = why;
    return false;
  }
  struct Read {
    ValueId input;
    const Node* line;
    size_t operand;
  };
  // The coordinates at which a node reads an operand; for an input, those of its earlier readers, if there are any.
  Coordinates read(const Node& line, size_t operand);
  const Read* known(ValueId input) const;
  bool same_extents(const Dimension& a, const Dimension& b) const;
  bool add_elementwise(const Node& line);
  bool add_view(const Node& line);
  bool add_reduction(const Node& line);
  bool add_gather(const Node& line);
  bool add_slice(const Node& line);
  bool add_concat(const Node& line);
  bool add_cat(const Node& line);
  Dimension whole_of(const std::vector<Dimension>& parts, int64_t extent);
  bool lies_in(const Dimension& part, const Dimension& whole, int64_t start, const Node& line);
  bool comes_of_reduction(const Node& line) const;
  bool depends_on_indices_alone(const Node& line) const;
  bool parts_fit(const Axes& everything);
  bool add_scan(const Node& line);
  bool axes_stay_whole() const;
  // Each value with the loop axes that it uses: found once for all that asks, since a group asks anew with every node.
  using Walks = std::vector<std::pair<const GroupValue*, std::vector<AxisId>>>;
  Walks walks() const;
  std::vector<AxisId> everything(const Walks& walks) const;
  bool reductions_fit(const std::vector<AxisId>& everything, const std::vector<AxisId>& outer) const;

  const Store* store_;
  const Capabilities* can_;
  Device device_ = Device::none;  // of all nodes; none: there are no nodes yet
  Space space_;
  std::vector<const Node*> lines_;
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
  struct Cut {
    Dimension part, whole;  // one axis each; no part: one position of the whole
    int64_t start;
    bool reduced;  // the value that is cut or concatenated depends on a reduction
  };
  std::vector<Cut> parts_;
  std::vector<Dimension> scanned_;  // the axes along which scans run: all are the one that is reduced
  bool backwards_ = false;
  bool gathers_own_values_ = false;  // some value is computed at indices other than the loops'
  size_t arguments_ = 0;  // upper bound of the kernel's arguments
  // All axes, if there is a sum over outer ones: its operand may be an input that no other node reads.
  Dimension summed_;
  std::string_view why_;
};

}  // namespace thunder::fusion
