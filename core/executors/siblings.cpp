#include "executors/siblings.h"

#include <algorithm>

#include "executors/frozen.h"
#include "executors/broadcast.h"
#include "executors/value_set.h"

namespace thunder {
namespace {

// How many nodes after a kernel are searched for a sibling.
constexpr size_t kWindow = 64;

class Siblings {
 public:
  Siblings(Trace& trace, const Executor& executor, const Op& op, RegionStates& states)
      : trace_(trace), executor_(executor), op_(op), states_(states), name_(trace.store->text(executor.name())),
        broadcast_(trace.store->size()), written_(broadcast_), read_(broadcast_), dependents_(broadcast_) {
    const std::vector<Computed> computed = when_computed(trace);
    for (const Write& w : trace.writes) written_.add(w.value);
    for (const Node* n : trace.nodes) {
      lines_.push_back({n, kernel(*n), computed[lines_.size()] == Computed::once, max_elements(*n)});
      if (broadcasts(*n, *trace.store)) broadcast_.add(*n);
    }
  }

  void run() {
    for (size_t i = 0; i < lines_.size(); i++)
      while (lines_[i].kernel && join_next(i)) continue;
    trace_.nodes.clear();
    for (const Line& line : lines_) trace_.nodes.push_back(line.node);
  }

 private:
  struct Line {
    const Node* node;
    bool kernel;
    bool once;  // it is computed once, which in one kernel with other nodes it could not be
    int64_t max_elements;  // elements of the largest value that it reads or writes
  };

  bool kernel(const Node& n) const {
    if (n.executor) return executor_.name() == n.executor && !n.body.empty();
    return !def(n).view && executor_.claims({n, *trace_.store});
  }

  int64_t elements_of(ValueId v) const {
    const Dim size = elements(trace_.store->type(v).shape);
    return size.constant() ? size.value() : 0;
  }
  int64_t max_elements(const Node& n) const {
    int64_t out = 0;
    const auto look = [&](ValueId v) { out = std::max(out, elements_of(v)); };
    for_each_value(n.args, look);
    for (ValueId r : n.results) look(r);
    return out;
  }

  // Joins a kernel with the next one that it can be joined with; false: there is none.
  bool join_next(size_t first) {
    read_.clear(), dependents_.clear();
    for_each_value(lines_[first].node->args, [&](ValueId v) {
      if (!broadcast_.has(v)) read_.add(v);
    });
    dependents_.add(*lines_[first].node);
    for (size_t i = first + 1; i < std::min(lines_.size(), first + kWindow); i++) {
      const Line& line = lines_[i];
      const bool passes = line.kernel || def(*line.node).view || line.max_elements <= 1;
      if (!passes) return false;
      if (dependents_.read_by(*line.node)) dependents_.add(*line.node);
      else if (may_join(lines_[first], line) && reads_the_same(line) && join(first, i)) return true;
    }
    return false;
  }

  bool may_join(const Line& first, const Line& line) const {
    if (!line.kernel || line.once != first.once || line.max_elements != first.max_elements) return false;
    // The new value of a written input may be computed in place; in one kernel with other nodes only if all of them are
    // elementwise.
    const bool writes = makes_written(*first.node) || makes_written(*line.node);
    return !writes || (is_elementwise(*first.node) && is_elementwise(*line.node));
  }
  bool makes_written(const Node& n) const {
    return std::any_of(n.results.begin(), n.results.end(), [this](ValueId r) { return written_.has(r); });
  }
  static bool is_elementwise(const Node& n) {
    const std::vector<const Node*> lines = nodes_of(n);
    return std::all_of(lines.begin(), lines.end(), [](const Node* line) { return def(*line).has(kElementwise); });
  }

  bool reads_the_same(const Line& line) const {
    bool reads = false;
    for_each_value(line.node->args, [&](ValueId v) {
      reads |= line.max_elements > 1 && read_.has(v) && elements_of(v) == line.max_elements;
    });
    return reads;
  }

  bool fits(std::span<const Node* const> lines, RegionState& state) const {
    return executor_.desc().fits(lines, *trace_.store, state, executor_.desc().user);
  }

  // Nodes between the two that depend on the first one move after both.
  bool join(size_t first, size_t second) {
    std::vector<const Node*> body = nodes_of(*lines_[first].node);
    const std::vector<const Node*> others = nodes_of(*lines_[second].node);
    const auto middle = body.insert(body.end(), others.begin(), others.end());
    // Which loops read an operand may depend on the nodes before; either order is valid, so both are tried.
    RegionState state;
    if (!fits(body, state) && (std::rotate(body.begin(), middle, body.end()), !fits(body, state))) return false;
    const auto from = lines_.begin() + static_cast<ptrdiff_t>(first),
               to = lines_.begin() + static_cast<ptrdiff_t>(second) + 1;
    Line both = *from;
    both.node = region(*lines_[first].node, *lines_[second].node, body);
    states_.keep(both.node, std::move(state));
    const auto behind =
        std::stable_partition(from + 1, to - 1, [this](const Line& line) { return !dependents_.read_by(*line.node); });
    std::rotate(from, from + 1, behind);
    *(behind - 1) = both;
    lines_.erase(to - 1);
    return true;
  }

  const Node* region(const Node& first, const Node& second, const std::vector<const Node*>& body) {
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
  std::vector<Line> lines_;
  ValueSet broadcast_;  // views that broadcast
  ValueSet written_;
  ValueSet read_;  // read by the kernel whose siblings are searched
  ValueSet dependents_;  // results of that kernel and of nodes that depend on it
};

}  // namespace

void join_siblings(Trace& trace, const Executor& executor, const Op& region, RegionStates& states) {
  if (executor.desc().fits) Siblings(trace, executor, region, states).run();
}

}  // namespace thunder
