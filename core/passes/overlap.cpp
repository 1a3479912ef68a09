#include <algorithm>
#include <deque>
#include <numeric>

#include "ops/world_collectives.h"
#include "passes/waits.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

// Of operands and results that collectives have at a time: a few buckets of gradients.
constexpr size_t kMostBytesStarted = size_t{256} << 20;

bool is_wait(const Node& n) {
  return waits_for_collective(def(n));
}
bool is_start(const Node& n) {
  return n.executor && n.executor == kCollectivesExecutor && runs_collective(def(n));
}

// Whether the result is the operand, in another form.
bool passes_on(const Node& n) {
  return is_wait(n) || (def(n).view && n.body.empty());
}
bool is_parameter_gather(const Node& n) {
  return is_start(n) && n.op->name() == "prims.all_gather" && n.args[3].i != 0;
}
bool is_scatter(const Node& n) {
  return is_start(n) && n.op->name() == "prims.reduce_scatter";
}

// Whether it may be moved to its operands: what prepares the operand of a collective, and is no work of its own, which
// has its place among the lines that free the memory of others.
bool is_light(const Node& n) {
  const OpDef& op = def(n);
  return op.view || op.has(kElementwise) || !n.body.empty() || op.name() == "prims.cat";
}

class Overlap {
 public:
  Overlap(const Trace& trace, const Op& wait)
      : trace_(trace), wait_(wait), written_(trace.store->size()), producer_(trace.store->size(), kInput) {
    for (const Write& w : trace.writes) written_[w.value] = true;
  }

  std::optional<Trace> run() {
    if (std::none_of(trace_.nodes.begin(), trace_.nodes.end(), [](auto* n) { return is_start(*n); }))
      return std::nullopt;
    order_starts();
    place_waits();
    let_host_wait_once();
    if (nodes_ == trace_.nodes) return std::nullopt;
    Trace out = trace_;
    out.nodes = std::move(nodes_);
    return out;
  }

 private:
  static constexpr int64_t kInput = -1, kNever = INT64_MAX;

  // By node: whether it starts a collective, or only prepares the operands of some.
  std::vector<bool> feed_collectives() const {
    std::vector<bool> feeds(trace_.nodes.size()), other_use(trace_.store->size()), used(trace_.store->size());
    for (ValueId v : trace_.outputs) other_use[v] = true;
    for (size_t i = 0; i < written_.size(); i++) other_use[i] = other_use[i] || written_[i];
    for (size_t i = trace_.nodes.size(); i-- > 0;) {
      const Node& n = *trace_.nodes[i];
      const auto for_them = [&](ValueId r) { return used[r] && !other_use[r]; };
      if (is_wait(n)) continue;
      feeds[i] = is_start(n) || (is_light(n) && std::all_of(n.results.begin(), n.results.end(), for_them));
      for_each_value(n.args, [&](ValueId v) { used[v] = true, other_use[v] = other_use[v] || !feeds[i]; });
    }
    return feeds;
  }

  // All but the waits, with what feeds collectives behind the last of its operands.
  void order_starts() {
    std::vector<bool> feeds = feed_collectives();
    std::vector<int64_t> at(trace_.nodes.size());
    for (size_t i = 0; i < at.size(); i++) {
      const Node& n = *trace_.nodes[i];
      at[i] = static_cast<int64_t>(i);
      if (feeds[i]) {
        int64_t ready = kInput;
        for_each_value(n.args, [&](ValueId v) { ready = std::max(ready, producer_[v]); });
        at[i] = ready;
      }
      for (ValueId r : n.results) producer_[r] = at[i];
    }
    delay_gathers(feeds, at);
    std::vector<size_t> order(at.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(at[a], feeds[a]) < std::pair(at[b], feeds[b]);
    });
    for (size_t i : order)
      (is_wait(*trace_.nodes[i]) ? waits_ : nodes_).push_back(trace_.nodes[i]);
  }

  // What may wait beside a computation, of collectives the largest of which has `most` bytes.
  static size_t most_ahead(size_t most) { return most + most / 4; }

  // Gathers of parameters could all start at once. What they give is freed behind its uses: each starts when one before
  // it is read, so that the largest and small ones wait at a time.
  void delay_gathers(std::vector<bool>& feeds, std::vector<int64_t>& at) const {
    std::vector<size_t> use(trace_.store->size(), trace_.nodes.size());  // by value: the first line that reads it
    std::vector<int64_t> start(trace_.store->size(), kNever);  // by value: the first gather that reads it
    std::vector<std::pair<size_t, size_t>> gathers;            // by their first use
    for (size_t i = trace_.nodes.size(); i-- > 0;) {
      const Node& n = *trace_.nodes[i];
      const auto now = static_cast<size_t>(std::max<int64_t>(at[i], 0));  // earlier, if it feeds a collective
      const size_t used = passes_on(n) ? use[n.results[0]] : std::min(i, now);
      for_each_value(n.args, [&](ValueId v) { use[v] = std::min(use[v], used); });
      if (is_parameter_gather(n) && at[i] == kInput) gathers.push_back({use[n.results[0]], i});
    }
    std::sort(gathers.begin(), gathers.end());
    const auto bytes = [&](size_t k) {
      return dense_bytes(trace_.type(trace_.nodes[gathers[k].second]->results[0]));
    };
    size_t most = 0, waiting = 0, first = 0;  // first: of those that may wait
    for (size_t k = 0; k < gathers.size(); k++) most = std::max(most, bytes(k));
    for (size_t k = 0; k < gathers.size(); k++) {
      for (waiting += bytes(k); waiting > most_ahead(most); first++) waiting -= bytes(first);
      if (first > 0) at[gathers[k].second] = static_cast<int64_t>(gathers[first - 1].first) - 1;
    }
    for (size_t i = trace_.nodes.size(); i-- > 0;) {  // with what prepares their operands
      const Node& n = *trace_.nodes[i];
      if (!feeds[i]) continue;
      if (!is_start(n)) {
        int64_t first = kNever;
        for (ValueId r : n.results) first = std::min(first, start[r]);
        if (first != kNever) at[i] = std::max(at[i], first);
      }
      for_each_value(n.args, [&](ValueId v) { start[v] = std::min(start[v], at[i]); });
    }
    std::vector<int64_t> there(trace_.store->size(), kInput);  // by value: behind which node its gather starts
    for (size_t i = 0; i < trace_.nodes.size(); i++) {          // with the views of what they give
      const Node& n = *trace_.nodes[i];
      if (is_parameter_gather(n)) there[n.results[0]] = at[i];
      if (!passes_on(n)) continue;
      int64_t& own = there[n.results[0]];
      for_each_value(n.args, [&](ValueId v) { own = std::max(own, there[v]); });
      if (own >= at[i]) at[i] = own, feeds[i] = true;
    }
  }

  // What is stored behind a wait for which the host stays may be computed in its place.
  size_t first_store() const {
    size_t last_start = 0;
    for (size_t i = 0; i < nodes_.size(); i++)
      if (is_start(*nodes_[i])) last_start = i;
    const auto stores = [&](const Node* n) {
      return std::any_of(n->results.begin(), n->results.end(), [&](ValueId r) { return written_[r]; });
    };
    const auto begin = nodes_.begin() + static_cast<ptrdiff_t>(last_start) + 1;
    return static_cast<size_t>(std::find_if(begin, nodes_.end(), stores) - nodes_.begin());
  }

  void place_waits() {
    const size_t end = first_store();
    std::vector<const Node*> wait_of(trace_.store->size());  // by what was started
    for (const Node* w : waits_) wait_of[w->args[0].v] = w;
    std::vector<const Node*> out, open;  // open: in the order in which they were started
    std::deque<const Node*> scatters;
    size_t bytes = 0, scattered = 0, most_scattered = 0;
    for (const Node* n : nodes_)
      if (is_scatter(*n)) most_scattered = std::max(most_scattered, dense_bytes(trace_.type(n->args[0].v)));
    most_scattered = most_ahead(most_scattered);
    const auto close = [&](const Node* w) {
      out.push_back(w);
      bytes -= bytes_of(*w);
      open.erase(std::find(open.begin(), open.end(), w));
    };
    for (size_t i = 0; i < nodes_.size(); i++) {
      const Node& n = *nodes_[i];
      for (const Node* w : std::vector(open)) {
        bool reads = i >= end;
        for_each_value(n.args, [&](ValueId v) { reads = reads || v == w->results[0]; });
        if (reads) close(w);
      }
      if (is_start(n)) {
        const Node* const own = wait_of[n.results[0]];
        while (!open.empty() && bytes + bytes_of(*own) > kMostBytesStarted) close(open.front());
        if (is_scatter(n)) {  // the whole of a gradient stays until its wait
          scattered += dense_bytes(trace_.type(n.args[0].v)), scatters.push_back(own);
          for (; scattered > most_scattered; scatters.pop_front()) {
            const Node* const oldest = scatters.front();
            scattered -= dense_bytes(trace_.type(oldest->args[1].v));
            if (std::find(open.begin(), open.end(), oldest) != open.end()) close(oldest);
          }
        }
        open.push_back(own), bytes += bytes_of(*own);
      }
      out.push_back(&n);
    }
    while (!open.empty()) close(open.front());
    nodes_ = std::move(out);
  }
  size_t bytes_of(const Node& wait) const {
    return dense_bytes(trace_.type(wait.args[0].v)) + dense_bytes(trace_.type(wait.args[1].v));
  }

  // The device waits at each.
  void let_host_wait_once() {
    bool last = true;
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node& n = *nodes_[i];
      if (!is_wait(n)) continue;
      const bool done = std::exchange(last, false);
      if ((n.args[2].i != 0) == done) continue;
      const Arg args[] = {n.args[0], n.args[1], Arg::boolean(done)};
      nodes_[i] = trace_.store->node(&wait_, args, n.results, {}, n.where, n.executor);
    }
  }

  const Trace& trace_;
  const Op& wait_;
  std::vector<bool> written_;      // by value
  std::vector<int64_t> producer_;  // by value: behind which node it is there
  std::vector<const Node*> nodes_, waits_;
};

}  // namespace

std::optional<Trace> overlap(const Trace& trace, PassContext& context) {
  return Overlap(trace, context.registry.get("prims.wait")).run();
}

}  // namespace thunder
