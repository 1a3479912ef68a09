#include "executors/regions.h"

#include <algorithm>

#include "executors/broadcast.h"
#include "executors/region_search.h"

namespace thunder {
namespace {

// How many nodes after a region's first one are searched. This bounds the time, and how far a node may move: moving it
// may lengthen the lives of values.
constexpr size_t kWindow = 256;
// How far a recomputed node may move: about the forward and backward of a dozen layers.
constexpr size_t kMaxDistance = 2048;

}  // namespace

Regions::Regions(Trace& trace, const Executor& executor, const Op& op, RegionStates& states)
    : trace_(trace),
      executor_(executor),
      op_(op),
      name_(trace.store->text(executor.name())),
      states_(states),
      uses_(trace.store->size(), 0),
      inside_(uses_.size()),
      behind_(uses_.size()),
      inputs_(uses_.size()),
      connections_(uses_.size()) {
  const std::vector<Computed> computed = when_computed(trace);
  for (const Node* n : trace.nodes) {
    lines_.push_back(entry(n, !n->executor && executor.claims({*n, *trace.store}), false, computed[lines_.size()]));
    for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
  }
  for (Line& line : lines_) line.broadcasts_often = broadcasts_often(*line.node);
  broadcast_from_.resize(trace.store->size(), kNoValue), times_recomputed_.resize(trace.store->size(), 0);
  for (const Node* n : trace.nodes)
    if (broadcasts(*n, *trace.store)) broadcast_from_[n->results[0]] = n->args[0].v;
  for (ValueId v : trace.outputs) uses_[v]++;
  for (const Write& w : trace.writes) uses_[w.value]++;
  find_materialized();
}

void Regions::run() {
  // Large nodes choose their neighbours first; small nodes then join one of these regions, or form regions of what is
  // left.
  for (const bool large : {true, false}) {
    for (size_t first = 0; first < lines_.size();) {
      const size_t formed =
          lines_[first].candidate && is_large(*lines_[first].node) == large && take(first) ? form(first) : 0;
      first += formed ? formed - 1 : 1;
    }
    lines_.erase(std::remove_if(lines_.begin(), lines_.end(), [](const Line& line) { return !line.node; }),
                 lines_.end());
  }
  trace_.nodes.clear();
  for (const Line& line : lines_) trace_.nodes.push_back(line.node);
}

bool Regions::is_large(const Node& n) const {
  constexpr int64_t kLarge = 1024;  // elements
  bool large = false;
  const auto look = [&](ValueId v) {
    const Dim size = elements(trace_.store->type(v).shape);
    large |= !size.constant() || size.value() >= kLarge;
  };
  for_each_value(n.args, look);
  for (ValueId r : n.results) look(r);
  return large;
}

void Regions::find_materialized() {
  materialized_.assign(uses_.size(), 0);
  for (ValueId v : trace_.outputs) materialized_[v] = 1;
  for (const Write& w : trace_.writes) materialized_[w.value] = 1;
  std::vector<size_t> made(uses_.size(), 0);
  for (size_t i = 0; i < lines_.size(); i++) {
    const Line& line = lines_[i];
    const bool whole = !line.candidate || def(*line.node).view;
    for_each_value(line.node->args, [&](ValueId v) { materialized_[v] |= whole || i - made[v] > kMaxDistance; });
    for (ValueId r : line.node->results) made[r] = i;
  }
}

bool Regions::take(size_t first) {
  if (executor_.desc().begins_region && !executor_.desc().begins_region(*lines_[first].node)) return false;
  const size_t end = std::min(lines_.size(), first + kWindow);
  connect(first, end);
  divide(first, end, [&](size_t i) {
    const Line& line = lines_[i];
    return line.candidate && may_join(line.computed, lines_[first].computed) &&
           (connections_.component_of(i - first) == connections_.component_of(0) ||
            (line.broadcasts_often && values_.reads_any(line.values, inside_)));
  });
  flags_.assign(nodes_.size(), 0);
  state_ = nullptr;
  const ExecutorDesc& d = executor_.desc();
  if (nodes_.size() < 2 || !d.claim_region(nodes_, *trace_.store, flags_.data(), state_, d.user) || !flags_[0])
    return false;
  taken_.assign(end - first, false);
  for (size_t i = 0, offered = 0; i < taken_.size(); i++) taken_[i] = sides_[i] == Side::inside && flags_[offered++];
  return true;
}

void Regions::connect(size_t first, size_t end) {
  connections_.restart(end - first);
  for (size_t i = first; i < end; i++) {
    if (!lines_[i].candidate || lines_[i].broadcasts_often) continue;
    for (ValueId v : values_.reads(lines_[i].values))
      if (broadcast_from_[v] == kNoValue || connections_.has(v)) connections_.add(i - first, v);
    for (ValueId r : values_.makes(lines_[i].values)) connections_.add(i - first, r);
  }
}

bool Regions::broadcasts_often(const Node& n) const { return broadcasts(n, *trace_.store) && uses_[n.args[0].v] >= 2; }

void claim_regions(Trace& trace, const Executor& executor, const Op& region, RegionStates& states) {
  Regions(trace, executor, region, states).run();
}

}  // namespace thunder
