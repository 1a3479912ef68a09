#include "regions/regions.h"

#include <algorithm>

#include "ir/dim_reads.h"
#include "passes/broadcast.h"
#include "regions/search.h"

namespace thunder {
namespace {

// How many nodes after a region's first one are searched. This bounds the time, and how far a node may move: moving it
// may lengthen the lives of values.
constexpr size_t kWindow = 256;
// How far a recomputed node may move: about the forward and backward of a dozen layers. On devices, whose memory is
// scarce, a value that is stored lives through all of them: about two hundred.
constexpr size_t kMaxDistance = 2048, kMaxDistanceOnDevices = 32768;

}  // namespace

Regions::Regions(Trace& trace, const Executor& executor, const Op& op, RegionStates& states)
    : trace_(trace),
      executor_(executor),
      op_(op),
      name_(trace.store->text(executor.name())),
      states_(states),
      uses_(trace.store->size(), 0),
      inside_(uses_.size()),
      results_after_(uses_.size()),
      inputs_(uses_.size()),
      connections_(uses_.size()) {
  const std::vector<Computed> computed = when_computed(trace);
  for (const Node* n : trace.nodes) {
    const bool candidate = is_single(*n, executor, op);
    entries_.push_back(make_entry(n, candidate, false, computed[entries_.size()]));
    for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
  }
  for (Entry& entry : entries_) entry.is_shared_broadcast = is_shared_broadcast(*entry.node);
  broadcast_from_.resize(trace.store->size(), kNoValue), times_recomputed_.resize(trace.store->size(), 0);
  for (const Node* n : trace.nodes)
    if (broadcasts(*n, *trace.store)) broadcast_from_[n->results[0]] = n->args[0].v;
  for (ValueId v : trace.outputs) uses_[v]++;
  for (const Write& w : trace.writes) uses_[w.value]++;
  find_materialized();
}

void Regions::run() {
  // Regions of large nodes are formed first; the small nodes that joined none of these then form regions of their own.
  for (const bool large : {true, false}) {
    for (size_t first = 0; first < entries_.size();) {
      const size_t formed =
          entries_[first].candidate && has_large_values(*entries_[first].node, *trace_.store) == large &&
                  try_region_from(first)
              ? form_region_from(first)
              : 0;
      first += formed ? formed - 1 : 1;
    }
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.node; }),
                 entries_.end());
  }
  trace_.nodes.clear();
  for (const Entry& entry : entries_) trace_.nodes.push_back(entry.node);
}

bool has_large_values(const Node& n, const Store& store) {
  constexpr int64_t kLarge = 1024;  // elements
  bool large = false;
  const auto look = [&](ValueId v) { large |= is_at_most(kLarge, elements(store.type(v).shape)); };
  for_each_value(n.args, look);
  for (ValueId r : n.results) look(r);
  return large;
}

void Regions::find_materialized() {
  materialized_.assign(uses_.size(), 0);
  for (ValueId v : trace_.outputs) materialized_[v] = 1;
  for (const Write& w : trace_.writes) materialized_[w.value] = 1;
  std::vector<size_t> made(uses_.size(), 0);
  for (size_t i = 0; i < entries_.size(); i++) {
    const Entry& entry = entries_[i];
    const bool whole = !entry.candidate || def(*entry.node).view;
    for_each_value(entry.node->args, [&](ValueId v) {
      const bool on_cpu = trace_.store->type(v).device == Device::cpu;
      materialized_[v] |= whole || i - made[v] > (on_cpu ? kMaxDistance : kMaxDistanceOnDevices);
    });
    for (ValueId r : entry.node->results) made[r] = i;
  }
}

bool Regions::try_region_from(size_t first) {
  if (executor_.desc().begins_region && !executor_.desc().begins_region(*entries_[first].node)) return false;
  const size_t end = std::min(entries_.size(), first + kWindow);
  find_connected(first, end);
  size_t connected = 0, last = first;
  for (size_t i = first; i < end; i++)
    if (connections_.component_of(i - first) == connections_.component_of(0)) connected++, last = i;
  if (connected < 2) return false;
  // Nodes after the last candidate cannot be read by any candidate.
  partition_window(first, last + 1, [&](size_t i) {
    const Entry& entry = entries_[i];
    return entry.candidate && may_join(entry.computed, entries_[first].computed) &&
           (connections_.component_of(i - first) == connections_.component_of(0) ||
            (entry.is_shared_broadcast && values_.reads_any(entry.values, inside_)));
  });
  flags_.assign(nodes_.size(), 0);
  state_ = nullptr;
  const ExecutorDesc& d = executor_.desc();
  if (nodes_.size() < 2 || !d.claim_region(nodes_, *trace_.store, flags_.data(), state_, d.user) || !flags_[0])
    return false;
  taken_.assign(last + 1 - first, false);
  for (size_t i = 0, offered = 0; i < taken_.size(); i++) taken_[i] = sides_[i] == Side::inside && flags_[offered++];
  return true;
}

void Regions::find_connected(size_t first, size_t end) {
  connections_.restart(end - first);
  for (size_t i = first; i < end; i++) {
    if (!entries_[i].candidate || entries_[i].is_shared_broadcast) continue;
    for (ValueId v : values_.reads(entries_[i].values))
      if (broadcast_from_[v] == kNoValue || connections_.has(v)) connections_.add(i - first, v);
    for (ValueId r : values_.results(entries_[i].values)) connections_.add(i - first, r);
  }
}

bool Regions::is_shared_broadcast(const Node& n) const {
  return broadcasts(n, *trace_.store) && uses_[n.args[0].v] >= 2;
}

void form_regions(Trace& trace, const Executors& executors, const Op& region, RegionStates& states) {
  for (const Ref<Executor>& e : executors)
    if (e->desc().claim_region) Regions(trace, *e, region, states).run();
}

}  // namespace thunder
