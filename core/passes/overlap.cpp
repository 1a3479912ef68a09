#include <algorithm>
#include <deque>
#include <set>

#include "ir/prim.h"
#include "ops/world_collectives.h"
#include "passes/overlap_order.h"
#include "passes/waits.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

// Of operands and results that collectives have at a time: a few buckets of gradients.
constexpr size_t kMostBytesStarted = size_t{256} << 20;

class Overlap {
 public:
  Overlap(const Trace& trace, const Op& wait)
      : trace_(trace), wait_(wait), written_(trace.store->size()), group_of_(trace.store->size()) {
    for (const Write& w : trace.writes) written_[w.value] = true;
  }

  std::optional<Trace> run() {
    if (std::none_of(trace_.nodes.begin(), trace_.nodes.end(), [](auto* n) { return is_start(*n); }))
      return std::nullopt;
    order_ = order_starts(trace_);
    nodes_ = order_.nodes;
    for (const StartGroup& t : order_.groups)
      for (size_t i : t.starts) group_of_[trace_.nodes[i]->results[0]] = &t;
    for (const Node* n : trace_.nodes)
      if (is_wait(*n)) waits_.push_back(n);
    place_waits();
    mark_groups();
    let_host_wait_once();
    if (nodes_ == trace_.nodes) return std::nullopt;
    Trace out = trace_;
    out.nodes = std::move(nodes_);
    return out;
  }

 private:
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
    wait_of_.assign(trace_.store->size(), nullptr);
    for (const Node* w : waits_) wait_of_[w->args[0].v] = w;
    for (const Node* n : nodes_)
      if (is_scatter(*n)) most_scattered_ = std::max(most_scattered_, whole_bytes(*n));
    most_scattered_ = most_ahead(most_scattered_);
    for (size_t i = 0; i < nodes_.size(); i++) {
      const Node& n = *nodes_[i];
      for (const Node* w : std::vector(open_)) {
        bool reads = i >= end;
        for_each_value(n.args, [&](ValueId v) { reads = reads || v == w->results[0]; });
        if (reads) close(w);
      }
      if (is_start(n)) open(n);
      out_.push_back(&n);
    }
    while (!open_.empty()) close(open_.front());
    nodes_ = std::move(out_);
  }

  // Before a start. Memory of what a unit gathers is bounded by when it starts.
  void open(const Node& n) {
    const Node* const own = wait_of_[n.results[0]];
    const bool first = begun_.insert(group_of_[n.results[0]]).second || !group_of_[n.results[0]];
    if (is_scatter(n)) {  // the whole of a gradient stays until its wait
      if (first) scattered_ += whole_bytes(n);
      while (first && scattered_ > most_scattered_ && !scatters_.empty()) end_oldest_scatters();
      scatters_.push_back(own);
    }
    while (!group_of_[n.results[0]] && !open_.empty() && bytes_ + bytes_of(*own) > kMostBytesStarted)
      close(open_.front());
    open_.push_back(own), bytes_ += bytes_of(*own);
  }
  // Those that began together.
  void end_oldest_scatters() {
    const StartGroup* const these = group_of_[scatters_.front()->args[0].v];
    scattered_ -= these ? these->bytes : dense_bytes(trace_.type(scatters_.front()->args[1].v));
    do {
      const Node* const oldest = scatters_.front();
      scatters_.pop_front();
      if (std::find(open_.begin(), open_.end(), oldest) != open_.end()) close(oldest);
    } while (these && !scatters_.empty() && group_of_[scatters_.front()->args[0].v] == these);
  }
  void close(const Node* wait) {
    out_.push_back(wait);
    bytes_ -= bytes_of(*wait);
    open_.erase(std::find(open_.begin(), open_.end(), wait));
  }
  // Of all gradients that are added together.
  size_t whole_bytes(const Node& scatter) const {
    const StartGroup* const these = group_of_[scatter.results[0]];
    return these ? these->bytes : dense_bytes(trace_.type(scatter.args[0].v));
  }
  size_t bytes_of(const Node& wait) const {
    if (group_of_[wait.args[0].v]) return 0;
    return dense_bytes(trace_.type(wait.args[0].v)) + dense_bytes(trace_.type(wait.args[1].v));
  }

  // A start whose next one, before any wait, is of those that begin together with it.
  void mark_groups() {
    const StartGroup* next = nullptr;
    for (size_t i = nodes_.size(); i-- > 0;) {
      const Node& n = *nodes_[i];
      if (is_wait(n)) next = nullptr;
      if (!is_start(n)) continue;
      const StartGroup* const own = group_of_[n.results[0]];
      const bool more = own && own == next;
      next = own;
      if (!own || (n.args[def(n).ranks->more].i != 0) == more) continue;
      std::vector<Arg> args(n.args.begin(), n.args.end());
      args[def(n).ranks->more] = Arg::boolean(more);
      nodes_[i] = trace_.store->node(n.op, args, n.results, {}, n.where, n.executor);
    }
  }

  // The device waits at each; where something is stored, the host at the last.
  void let_host_wait_once() {
    bool last = !trace_.writes.empty();
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
  StartOrder order_;
  std::vector<bool> written_;              // by value
  std::vector<const StartGroup*> group_of_;  // by value that a collective gives, before the wait; null: it begins alone
  std::vector<const Node*> nodes_, waits_;
  // While waits are placed.
  std::vector<const Node*> wait_of_, out_, open_;  // by what was started; open: in the order in which they were started
  std::deque<const Node*> scatters_;
  std::set<const StartGroup*> begun_;
  size_t bytes_ = 0, scattered_ = 0, most_scattered_ = 0;
};

}  // namespace

std::optional<Trace> overlap(const Trace& trace, PassContext& context) {
  return Overlap(trace, context.registry.get(Prim::wait)).run();
}

}  // namespace thunder
