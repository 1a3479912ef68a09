#include "passes/overlap_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "tensor/tensor.h"

namespace thunder {

bool is_wait(const Node& n) {
  return waits_for_collective(def(n));
}
bool is_start(const Node& n) {
  return n.executor && n.executor == kCollectivesExecutor && runs_collective(def(n));
}
bool is_scatter(const Node& n) {
  return is_start(n) && runs_collective(def(n), Collective::reduce_scatter);
}

namespace {

// Whether the result is the operand, in another form.
bool passes_on(const Node& n) {
  return is_wait(n) || (def(n).view && n.body.empty());
}
bool is_parameter_gather(const Node& n) {
  return is_start(n) && !is_scatter(n) && unit_of(n) != 0;
}

// Whether it may be moved to its operands: what prepares the operand of a collective, and is no work of its own, which
// has its place among the lines that free the memory of others.
bool is_light(const Node& n) {
  const OpDef& op = def(n);
  return op.view || op.has(kElementwise) || !n.body.empty() || op.id == Prim::cat;
}

class Order {
 public:
  explicit Order(const Trace& trace)
      : trace_(trace), at_(trace.nodes.size()), group_(trace.nodes.size(), kNoGroup), written_(trace.store->size()) {
    for (const Write& w : trace.writes) written_[w.value] = true;
  }

  StartOrder run() {
    find_feeds();
    place_at_operands();
    find_uses();
    join_gathers();
    join_scatters();
    bring_along();
    StartOrder out;
    std::vector<size_t> order(at_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tuple(at_[a], feeds_[a], group_[a]) < std::tuple(at_[b], feeds_[b], group_[b]);
    });
    for (size_t i : order)
      if (!is_wait(node(i))) out.nodes.push_back(&node(i));
    out.groups = std::move(groups_);
    return out;
  }

 private:
  static constexpr int64_t kInput = -1, kNever = INT64_MAX, kNoGroup = -1;
  const Node& node(size_t i) const { return *trace_.nodes[i]; }
  size_t whole_bytes(size_t start) const {
    const Node& n = node(start);
    return dense_bytes(trace_.type(is_scatter(n) ? n.args[0].v : n.results[0]));
  }

  // By node: whether it starts a collective, or only prepares the operands of some.
  void find_feeds() {
    feeds_.assign(at_.size(), false);
    std::vector<bool> other_use(written_), used(written_.size());
    for (ValueId v : trace_.outputs) other_use[v] = true;
    for (size_t i = at_.size(); i-- > 0;) {
      const Node& n = node(i);
      const auto for_them = [&](ValueId r) { return used[r] && !other_use[r]; };
      if (is_wait(n)) continue;
      feeds_[i] = is_start(n) || (is_light(n) && std::all_of(n.results.begin(), n.results.end(), for_them));
      for_each_value(n.args, [&](ValueId v) { used[v] = true, other_use[v] = other_use[v] || !feeds_[i]; });
    }
  }

  // Where ranks may have other programs, the order of lines is all that they have in common.
  std::map<std::string_view, int64_t> axes_in_order() const {
    std::map<std::string_view, int64_t> found;
    for (const Node* n : trace_.nodes)
      if (is_start(*n) && def(*n).ranks->ordered) found[axis_of(*n)] = kInput;
    return found;
  }

  void place_at_operands() {
    std::vector<int64_t> producer(written_.size(), kInput);  // by value: behind which node it is there
    auto last = axes_in_order();                             // behind which node the last of each of them starts
    for (size_t i = 0; i < at_.size(); i++) {
      at_[i] = static_cast<int64_t>(i);
      if (feeds_[i]) {
        int64_t ready = kInput;
        for_each_value(node(i).args, [&](ValueId v) { ready = std::max(ready, producer[v]); });
        at_[i] = ready;
      }
      if (is_start(node(i)))
        if (const auto axis = last.find(axis_of(node(i))); axis != last.end())
          axis->second = at_[i] = std::max(at_[i], axis->second);
      for (ValueId r : node(i).results) producer[r] = at_[i];
    }
  }

  // By value: the first line that reads it, where lines are now.
  void find_uses() {
    use_.assign(written_.size(), at_.size());
    for (size_t i = at_.size(); i-- > 0;) {
      const Node& n = node(i);
      const auto now = static_cast<size_t>(std::max<int64_t>(at_[i], 0));  // earlier, if it feeds a collective
      const size_t used = passes_on(n) ? use_[n.results[0]] : std::min(i, now);
      for_each_value(n.args, [&](ValueId v) { use_[v] = std::min(use_[v], used); });
    }
  }
  size_t use_of(size_t start) const { return use_[node(start).results[0]]; }

  void add_group(std::vector<size_t> starts, int64_t at) {
    const auto number = static_cast<int64_t>(groups_.size());
    size_t bytes = 0;
    for (size_t i : starts) at_[i] = at, group_[i] = number, bytes += whole_bytes(i);
    std::sort(starts.begin(), starts.end());
    groups_.push_back({std::move(starts), bytes});
  }

  // Gathers of parameters could all start at once. What they give is freed behind its uses: those of a unit start when
  // one before it is read, so that the largest and small ones wait at a time. What a unit has at the other end of the
  // program, such as the last norm of a model, is gathered there.
  void join_gathers() {
    std::vector<size_t> gathers;
    for (size_t i = 0; i < at_.size(); i++)
      if (is_parameter_gather(node(i)) && at_[i] == kInput) gathers.push_back(i);
    std::stable_sort(gathers.begin(), gathers.end(), [&](size_t a, size_t b) { return use_of(a) < use_of(b); });
    std::vector<StartGroup> units;
    for (size_t i : gathers) {
      if (units.empty() || unit_of(node(units.back().starts[0])) != unit_of(node(i))) units.emplace_back();
      units.back().starts.push_back(i), units.back().bytes += whole_bytes(i);
    }
    size_t most = 0, waiting = 0, first = 0;  // first: of those that may wait
    for (const StartGroup& unit : units) most = std::max(most, unit.bytes);
    for (const StartGroup& unit : units) {
      for (waiting += unit.bytes; waiting > most_ahead(most); first++) waiting -= units[first].bytes;
      const int64_t at = first > 0 ? static_cast<int64_t>(use_of(units[first - 1].starts[0])) - 1 : kInput;
      add_group(unit.starts, at);
    }
  }

  // Those of a unit, up to where the result of one of them is read.
  void join_scatters() {
    struct Open {
      std::vector<size_t> starts;
      int64_t at = kInput;
      size_t use = SIZE_MAX;
    };
    std::vector<size_t> scatters;
    for (size_t i = 0; i < at_.size(); i++)
      if (is_scatter(node(i)) && unit_of(node(i)) != 0) scatters.push_back(i);
    std::stable_sort(scatters.begin(), scatters.end(), [&](size_t a, size_t b) { return at_[a] < at_[b]; });
    std::map<int64_t, Open> open;  // by unit
    for (size_t i : scatters) {
      Open& unit = open[unit_of(node(i))];
      if (!unit.starts.empty() && at_[i] >= static_cast<int64_t>(unit.use))
        add_group(std::exchange(unit, {}).starts, unit.at);
      unit.starts.push_back(i), unit.at = std::max(unit.at, at_[i]), unit.use = std::min(unit.use, use_of(i));
    }
    for (auto& [number, unit] : open) add_group(unit.starts, unit.at);
  }

  // What prepares the operands of starts that wait, and views of what these give.
  void bring_along() {
    // By value, of what reads it.
    std::vector<int64_t> start(written_.size(), kNever), group(written_.size(), kNoGroup);
    for (size_t i = at_.size(); i-- > 0;) {
      if (!feeds_[i]) continue;
      const Node& n = node(i);
      if (!is_start(n)) {
        int64_t first = kNever;
        for (ValueId r : n.results)
          if (start[r] < first) first = start[r], group_[i] = group[r];
        if (first != kNever) at_[i] = std::max(at_[i], first);
      }
      if (is_scatter(n) && unit_of(n) != 0) continue;  // sums over many rows are no work for later: rows are many bytes
      for_each_value(n.args, [&](ValueId v) {
        if (at_[i] < start[v]) start[v] = at_[i], group[v] = group_[i];
      });
    }
    // Views of what is gathered are where they are read first: there the wait is, too.
    std::vector<int64_t> there(written_.size(), kNever);  // by value: behind which node its gather starts; never: none
    for (size_t i = 0; i < at_.size(); i++) {
      const Node& n = node(i);
      if (is_parameter_gather(n)) there[n.results[0]] = at_[i];
      if (!passes_on(n)) continue;
      int64_t& own = there[n.results[0]];
      for_each_value(n.args, [&](ValueId v) { own = std::min(own, there[v]); });
      if (own == kNever) continue;
      at_[i] = std::max(own, static_cast<int64_t>(use_[n.results[0]]) - 1);
      feeds_[i] = true, group_[i] = static_cast<int64_t>(groups_.size());  // behind all that starts there
    }
  }

  const Trace& trace_;
  std::vector<int64_t> at_;     // by node: behind which node it is
  std::vector<int64_t> group_;  // by node: of `groups_`, that it starts or prepares
  std::vector<bool> feeds_;     // by node: it starts a collective, or prepares the operands of some alone
  std::vector<bool> written_;   // by value
  std::vector<size_t> use_;     // by value
  std::vector<StartGroup> groups_;
};

}  // namespace

StartOrder order_starts(const Trace& trace) {
  return Order(trace).run();
}

}  // namespace thunder
