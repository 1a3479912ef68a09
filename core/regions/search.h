// The state of the search for regions, which forms one region at a time: search.cpp offers candidates to the executor,
// forming.cpp replaces the nodes that it takes by one region.
#pragma once

#include <vector>

#include "executors/executor.h"
#include "regions/connections.h"
#include "ir/node_values.h"
#include "ir/value_set.h"
#include "passes/frozen.h"

namespace thunder {

class Regions {
 public:
  Regions(Trace& trace, const Executor& executor, const Op& op, RegionStates& states);

  void run();

 private:
  struct Entry {
    const Node* node = nullptr;  // null: it went into a region
    bool candidate = false;
    bool is_shared_broadcast = false;  // a view that broadcasts a value which other nodes read as well
    Computed computed = Computed::each_time;
    NodeValues::Range values;
  };
  Entry make_entry(const Node* n, bool candidate, bool is_shared_broadcast, Computed computed = Computed::each_time) {
    return {n, candidate, is_shared_broadcast, computed, values_.add(*n)};
  }

  enum class Side : uint8_t { before, inside, after };
  // Sets materialized_: values that must be in memory, because nodes that are no candidates or views of memory read
  // them, or because their readers are so far away that finding them would take more than linear time.
  void find_materialized();

  // Partitions the nodes of a window. Those that `wants` accepts and that depend on no node after the region are inside
  // it; those that depend on a node inside or after it are after it; the others are before it. Nodes that are not pure
  // keep their order. Sets sides_, by the distance from `first`, and nodes_, the nodes inside.
  template <class Wants>
  void partition_window(size_t first, size_t end, const Wants& wants) {
    inside_.clear(), results_after_.clear();
    sides_.clear(), nodes_.clear();
    bool effects_after = false;
    for (size_t i = first; i < end; i++) {
      const Node& n = *entries_[i].node;
      const bool needs_after = values_.reads_any(entries_[i].values, results_after_) ||
                               (effects_after && !n.op->pure);
      const bool needs_any = needs_after || values_.reads_any(entries_[i].values, inside_);
      const Side side = !needs_after && wants(i) ? Side::inside : needs_any ? Side::after : Side::before;
      if (side == Side::inside) inside_.add(n), nodes_.push_back(&n);
      if (side == Side::after) results_after_.add(n), effects_after |= !n.op->pure;
      sides_.push_back(side);
    }
  }

  // Offers the executor all nodes that could join a region that begins at `first`: those connected with it. Sets
  // taken_, by the distance from `first`.
  bool try_region_from(size_t first);
  // Connects candidates that compute or read the same values. A broadcast that is read in several places connects
  // nothing, nor does a value that was broadcast before: its readers may have nothing else in common, like the updates
  // of parameters that share a learning rate.
  void find_connected(size_t first, size_t end);
  bool is_shared_broadcast(const Node& n) const;

  // Forms a region of the nodes that were taken, less those that depend on a node after the region. Returns one more
  // than the number of empty entries that it leaves in entries_; 0: there is no region.
  size_t form_region_from(size_t first);
  const Node* single_node();
  // Inserts a node before its first reader, with which it may form a region.
  void sink(const Node* n, size_t from);
  // Subtracts the reads by nodes_ from uses_, which then counts the reads of their results outside of the region.
  void remove_uses();
  // Rematerialization: values that are read inside and outside of the region and are cheap to recompute are computed on
  // both sides, rather than stored. Returns the nodes outside; those inside get new values. Views at the beginning of
  // the region stay inside.
  std::vector<const Node*> split_recomputed();
  // Whether the executor, which took all of the region's nodes, also takes those that are left. Sets state_.
  bool fits();
  // After split_recomputed(): takes nodes out that read nothing of the region and that nothing in it reads any more,
  // which the region's loops might not compute. They stay before it. False: there are none.
  bool remove_unconnected();
  // Undoes split_recomputed() and remove_unconnected().
  void undo_split(std::vector<const Node*>& again);
  // Removes nodes that were read only by those that are now recomputed outside.
  void remove_dead_nodes();
  // The region's node, with nodes_ as its body: its arguments are the values that they read from outside, its results
  // those that are read outside.
  const Node* make_region();

  Trace& trace_;
  const Executor& executor_;
  const Op& op_;
  const char* name_;
  RegionStates& states_;
  std::vector<Entry> entries_;
  NodeValues values_;
  std::vector<uint32_t> uses_;  // by value: how often nodes, outputs and writes read it
  ValueSet inside_;             // results of the region
  ValueSet results_after_;      // results of nodes after it
  ValueSet inputs_;
  Connections connections_;                // of candidates of the window, which have values in common
  std::vector<uint8_t> materialized_;      // by value: it is read as a whole, so it must be in memory
  std::vector<uint8_t> times_recomputed_;  // by value: how often it was recomputed
  std::vector<ValueId> broadcast_from_;    // by value: the operand that it broadcasts
  std::vector<ValueId> replacements_;      // by value that is computed on both sides: the new value inside
  // State of the region that is being formed.
  std::vector<Side> sides_;
  std::vector<const Node*> nodes_, nodes_before_split_;  // of the region, and before it was split
  std::vector<const Node*> unconnected_;    // see remove_unconnected()
  RegionState state_;                       // the executor's, of nodes_; null: none
  std::vector<uint8_t> flags_;
  std::vector<bool> taken_;
  std::vector<Entry> before_, after_;
};

}  // namespace thunder
