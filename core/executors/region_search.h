// The state of the search for regions, which forms one region at a time: regions.cpp offers candidates to the executor,
// region_forming.cpp replaces the nodes that it takes by one region.
#pragma once

#include <vector>

#include "executors/connections.h"
#include "executors/executor.h"
#include "executors/frozen.h"
#include "executors/line_values.h"
#include "executors/value_set.h"

namespace thunder {

class Regions {
 public:
  Regions(Trace& trace, const Executor& executor, const Op& op, RegionStates& states);

  void run();

 private:
  struct Line {
    const Node* node = nullptr;  // null: it went into a region
    bool candidate = false;
    bool broadcasts_often = false;  // a view that broadcasts a value which other nodes read as well
    Computed computed = Computed::each_time;
    LineValues::Place values;
  };
  Line entry(const Node* n, bool candidate, bool broadcasts_often, Computed computed = Computed::each_time) {
    return {n, candidate, broadcasts_often, computed, values_.add(*n)};
  }

  enum class Side : uint8_t { before, inside, behind };
  bool is_large(const Node& n) const;
  // Values that must be in memory: those read by nodes that are no candidates or by views of memory, and those whose
  // readers are so far away that finding them would take more than linear time.
  void find_materialized();

  // Partitions the nodes of a window. Those that `wants` and that depend on nothing behind the region are inside; those
  // that depend on a node inside or behind are behind it; the others are before it. Sets sides_, by the distance from
  // `first`, and nodes_, the nodes inside.
  template <class Wants>
  void divide(size_t first, size_t end, const Wants& wants) {
    inside_.clear(), behind_.clear();
    sides_.clear(), nodes_.clear();
    for (size_t i = first; i < end; i++) {
      const Node& n = *lines_[i].node;
      const bool needs_behind = values_.reads_any(lines_[i].values, behind_);
      const bool needs_any = needs_behind || values_.reads_any(lines_[i].values, inside_);
      const Side side = !needs_behind && wants(i) ? Side::inside : needs_any ? Side::behind : Side::before;
      if (side == Side::inside) inside_.add(n), nodes_.push_back(&n);
      if (side == Side::behind) behind_.add(n);
      sides_.push_back(side);
    }
  }

  // Offers the executor all nodes that could join a region that begins at `first`: those connected with it. Sets
  // taken_, by the distance from `first`.
  bool take(size_t first);
  // Connects candidates that make or read the same values. A broadcast that is read in several places connects nothing,
  // nor does a value that was broadcast before: its readers have nothing else in common, as parameters that share a
  // learning rate.
  void connect(size_t first, size_t end);
  bool broadcasts_often(const Node& n) const;

  // Forms a region of the nodes that were taken, less those that depend on a node behind the region. Returns one more
  // than the number of empty entries that it leaves in lines_; 0: there is no region.
  size_t form(size_t first);
  const Node* left_alone();
  // Inserts a node before its first reader, with which it may form a region.
  void sink(const Node* n, size_t from);
  // Takes the reads by nodes_ off uses_; what is left of their results' uses are reads outside.
  void forget_reads();
  // Values that are read inside and outside of the region and are cheap to recompute are computed on both sides,
  // instead of being written out in full. Returns the nodes outside; those inside get new values. Views at the region's
  // beginning stay.
  std::vector<const Node*> split();
  // Whether the executor, which took all of the region's nodes, also runs those that are left as one. Sets state_.
  bool fits();
  // Undoes split().
  void undo_split(std::vector<const Node*>& again);
  // Removes nodes that were read only by those that are now recomputed outside.
  void remove_dead_nodes();
  // One node for nodes_: its arguments are the values that they read from outside, its results those that are read
  // outside.
  const Node* region();

  Trace& trace_;
  const Executor& executor_;
  const Op& op_;
  const char* name_;
  RegionStates& states_;
  std::vector<Line> lines_;
  LineValues values_;
  std::vector<uint32_t> uses_;  // by value: how often nodes, outputs and writes read it
  ValueSet inside_;             // results of the region
  ValueSet behind_;             // results of nodes behind it
  ValueSet inputs_;
  Connections connections_;                // of candidates of the window, which have values in common
  std::vector<uint8_t> materialized_;      // by value: it is read as a whole, so it must be in memory
  std::vector<uint8_t> times_recomputed_;  // by value: how often it was recomputed
  std::vector<ValueId> broadcast_from_;    // by value: the operand that it broadcasts
  std::vector<ValueId> replacements_;      // by value that is computed on both sides: the new value inside
  // State of the region that is being formed.
  std::vector<Side> sides_;
  std::vector<const Node*> nodes_, whole_;  // of the region, and before it was split
  RegionState state_;                       // what the executor knows of nodes_; null: nothing
  std::vector<uint8_t> flags_;
  std::vector<bool> taken_;
  std::vector<Line> before_, after_;
};

}  // namespace thunder
