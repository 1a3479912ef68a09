// Lines that one loop nest can compute, found by adding one after the other.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executors/fusion/axes.h"
#include "executors/fusion/prims.h"
#include "loops/target.h"

namespace thunder::fusion {

// How a value stands in the nest.
enum class Kind : uint8_t {
  line,    // one element for each position; or, once something is reduced, for each position along the outer axes
  column,  // summed over the outer axes: known when the nest has ended, so nothing in the group reads it
  total,   // the same of all axes
};

struct GroupValue {
  Coordinates coordinates;
  Kind kind = Kind::line;
  bool reduced = false;  // it comes of a reduction
  bool free = false;     // it is made of nothing but where it stands: it may be the same along any axes
};

// An axis as a stretch of a longer one: index i of it is index start + i there.
struct Part {
  AxisId axis, whole;
  int64_t start;
};

// Whether a target of these capabilities computes this line at all: its function, element types, sizes, where its tensors are.
bool computable(const Node& line, const Store& store, const Capabilities& can);

class Group {
 public:
  // `can`: of the target of its lines' device; it must live as long.
  Group(const Store& store, const Capabilities& can) : store_(&store), can_(&can) {}
  Group(const Store&, Capabilities&&) = delete;

  // False: the line does not fit, and the group is spoilt unless this is a copy; `why` then says the reason.
  bool add(const Node& line) { return extend(line) && consistent(); }
  // As above, but other lines are still to come before all can be walked together.
  bool extend(const Node& line);
  bool consistent();
  // All of them, or none can be walked together.
  bool add_all(std::span<const Node* const> lines);
  std::string_view why() const { return why_; }

  const std::vector<const Node*>& lines() const { return lines_; }
  bool has(ValueId v) const { return values_.count(v) != 0; }
  const GroupValue& value(ValueId v) const { return values_.at(v); }
  // Where a line of the group reads an operand, by its number, that no other line makes.
  Coordinates read_of(const Node& line, size_t operand) const;
  // The axis along which a line that joins several operands alike chooses among them; none: they are parts of one axis.
  Dimension choice_of(const Node& line) const;
  // Where an axis stands in the one that is walked in its stead: itself at 0, unless it is a part of another.
  Part walked_as(AxisId a) const;
  const Space& space() const { return space_; }
  // The axes that the nest reduces for each position of the others; empty: nothing.
  Dimension reduced() const { return space_.resolve(reduced_); }
  // Whether sums run from the end of the one axis that is reduced; what they run along is then walked in no other order.
  bool backwards() const { return backwards_; }
  bool has_parts() const { return !parts_.empty(); }
  Device device() const { return device_; }
  // All axes of the nest.
  Dimension all() const;
  // Those among them that a value is walked by.
  std::vector<AxisId> walked_by(const Coordinates& c) const;

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
  // The coordinates at which a line reads an operand; of an input, those at which others read it, if any do.
  Coordinates read(const Node& line, size_t operand);
  const Read* known(ValueId input) const;
  bool same_extents(const Dimension& a, const Dimension& b) const;
  bool add_elementwise(const Node& line);
  bool add_view(const Node& line);
  bool add_reduction(const Node& line);
  bool add_pick(const Node& line);
  bool add_slice(const Node& line);
  bool add_join(const Node& line);
  bool add_cat(const Node& line);
  Dimension whole_of(const std::vector<Dimension>& parts, int64_t extent);
  bool lies_in(const Dimension& part, const Dimension& whole, int64_t start, const Node& line);
  bool comes_of_reduction(const Node& line) const;
  bool made_of_places(const Node& line) const;
  bool parts_fit(const Axes& everything);
  bool add_scan(const Node& line);
  bool axes_stay_whole() const;
  bool reductions_fit(const std::vector<AxisId>& everything, const std::vector<AxisId>& outer) const;

  const Store* store_;
  const Capabilities* can_;
  Device device_ = Device::none;  // of all lines; none: there are none yet
  Space space_;
  std::vector<const Node*> lines_;
  std::unordered_map<ValueId, GroupValue> values_;
  std::map<std::pair<const Node*, size_t>, Coordinates> reads_;  // of inputs, by reductions, picks and joins
  std::vector<Read> inputs_;  // by which line each was read first; few, and copied often
  Dimension reduced_;
  bool reduces_ = false;
  struct Reduction {
    ValueId result;
    Dimension away;
  };
  std::vector<Reduction> reductions_;
  std::vector<Dimension> picked_;  // the axes along which lines pick: one each
  std::map<const Node*, Dimension> choices_;  // the axis along which a line chooses
  struct Stretches {
    Dimension part, whole;  // one axis each; no part: one position of the whole
    int64_t start;
    bool reduced;           // what is cut or joined comes of a reduction
  };
  std::vector<Stretches> parts_;
  std::vector<Dimension> scanned_;            // the axes along which sums run: all the one that is reduced
  bool backwards_ = false;
  bool looks_elsewhere_ = false;              // it computes something where the loops do not stand
  size_t arguments_ = 0;                      // that the kernel has at most
  Dimension summed_;  // all axes, if there is a sum over outer ones: its operand may be an input, which no line walks
  std::string_view why_;
};

}  // namespace thunder::fusion
