#include "regions/siblings.h"

#include <algorithm>

#include "ir/value_set.h"
#include "passes/broadcast.h"
#include "passes/frozen.h"
#include "regions/regions.h"

namespace thunder {
namespace {

// How many nodes after a kernel are searched for a sibling.
constexpr size_t kSiblingWindow = 64;

class Siblings {
 public:
  Siblings(Trace& trace, const Executor& executor, const Op& op, RegionStates& states)
      : trace_(trace), executor_(executor), op_(op), states_(states), name_(trace.store->text(executor.name())),
        broadcast_(trace.store->size()), written_(broadcast_), read_(broadcast_), dependents_(broadcast_) {
    const std::vector<Computed> computed = when_computed(trace);
    for (const Write& w : trace.writes) written_.add(w.value);
    for (const Node* n : trace.nodes) {
      entries_.push_back({n, is_kernel(*n), computed[entries_.size()] == Computed::once, max_elements(*n)});
      if (broadcasts(*n, *trace.store)) broadcast_.add(*n);
    }
  }

  void run() {
    for (size_t i = 0; i < entries_.size(); i++)
      while (entries_[i].kernel && merge_with_next(i)) continue;
    trace_.nodes.clear();
    for (const Entry& entry : entries_)
      if (entry.node) trace_.nodes.push_back(entry.node);
  }

 private:
  struct Entry {
    const Node* node;  // null: it was joined with a later one
    bool kernel;
    bool once;  // it is computed once, which in one kernel with other nodes it could not be
    int64_t max_elements;  // elements of the largest value that it reads or writes
  };

  bool is_kernel(const Node& n) const {
    return is_region(n, executor_, op_) || (is_single(n, executor_, op_) && !def(n).view);
  }

  int64_t elements_of(ValueId v) const {
    return elements(trace_.store->type(v).shape).value();
  }
  int64_t max_elements(const Node& n) const {
    int64_t out = 0;
    const auto look = [&](ValueId v) { out = std::max(out, elements_of(v)); };
    for_each_value(n.args, look);
    for (ValueId r : n.results) look(r);
    return out;
  }

  // Joins a kernel with the next possible one; false if there is none.
  bool merge_with_next(size_t first) {
    read_.clear(), dependents_.clear();
    for_each_value(entries_[first].node->args, [&](ValueId v) {
      if (!broadcast_.has(v)) read_.add(v);
    });
    dependents_.add(*entries_[first].node);
    for (size_t i = first + 1; i < std::min(entries_.size(), first + kSiblingWindow); i++) {
      const Entry& entry = entries_[i];
      const bool passes = entry.kernel || def(*entry.node).view || (entry.max_elements <= 1 && entry.node->op->pure);
      if (!passes) return false;
      if (dependents_.read_by(*entry.node)) dependents_.add(*entry.node);
      else if (may_join(entries_[first], entry) && reads_the_same(entry) && merge_pair(first, i)) return true;
    }
    return false;
  }

  bool may_join(const Entry& first, const Entry& entry) const {
    if (!entry.kernel || entry.once != first.once || entry.max_elements != first.max_elements) return false;
    // The new value of a written input may be computed in place; in one kernel with other nodes only if all of them are
    // elementwise.
    const bool writes = computes_written_value(*first.node) || computes_written_value(*entry.node);
    return !writes || (is_elementwise(*first.node) && is_elementwise(*entry.node));
  }
  bool computes_written_value(const Node& n) const {
    return std::any_of(n.results.begin(), n.results.end(), [this](ValueId r) { return written_.has(r); });
  }
  static bool is_elementwise(const Node& n) {
    const std::vector<const Node*> nodes = nodes_of(n);
    return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) { return def(*node).has(kElementwise); });
  }

  bool reads_the_same(const Entry& entry) const {
    bool reads = false;
    for_each_value(entry.node->args, [&](ValueId v) {
      reads |= entry.max_elements > 1 && read_.has(v) && elements_of(v) == entry.max_elements;
    });
    return reads;
  }

  bool fits(std::span<const Node* const> nodes, RegionState& state) const {
    return executor_.desc().fits(nodes, *trace_.store, state, executor_.desc().user);
  }

  // Nodes between the two that depend on the first one move after both.
  bool merge_pair(size_t first, size_t second) {
    std::vector<const Node*> body = nodes_of(*entries_[first].node);
    const std::vector<const Node*> others = nodes_of(*entries_[second].node);
    const auto middle = body.insert(body.end(), others.begin(), others.end());
    // Which loops read an operand may depend on the nodes before; either order is valid, so both are tried.
    RegionState state;
    if (!fits(body, state) && (std::rotate(body.begin(), middle, body.end()), !fits(body, state))) return false;
    const auto from = entries_.begin() + static_cast<ptrdiff_t>(first),
               to = entries_.begin() + static_cast<ptrdiff_t>(second) + 1;
    Entry both = *from;
    both.node = make_region(*entries_[first].node, *entries_[second].node, body);
    states_[both.node] = std::move(state);
    const auto last = std::stable_partition(from + 1, to - 1,
                                            [this](const Entry& e) { return !dependents_.read_by(*e.node); });
    std::rotate(from, from + 1, last);
    *(last - 1) = both;
    std::move_backward(from, to - 1, to);
    *from = {};
    return true;
  }

  const Node* make_region(const Node& first, const Node& second, const std::vector<const Node*>& body) {
    std::vector<ValueId> inputs, results;
    for (const Node* n : {&first, &second}) {
      for_each_value(n->args, [&](ValueId v) {
        if (std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
      });
      results.insert(results.end(), n->results.begin(), n->results.end());
    }
    const Arg args[] = {Arg::values(inputs)};
    return trace_.store->node(&op_, args, results, body, first.where, name_);
  }

  Trace& trace_;
  const Executor& executor_;
  const Op& op_;
  RegionStates& states_;
  const char* name_;
  std::vector<Entry> entries_;
  ValueSet broadcast_;  // views that broadcast
  ValueSet written_;
  ValueSet read_;  // read by the kernel whose siblings are searched
  ValueSet dependents_;  // results of that kernel and of nodes that depend on it
};

}  // namespace

void merge_siblings(Trace& trace, const Executors& executors, const Op& region, RegionStates& states) {
  for (const Ref<Executor>& e : executors)
    if (e->desc().claim_region && e->desc().fits) Siblings(trace, *e, region, states).run();
}

}  // namespace thunder
