// Forms a region: replaces the nodes that an executor takes by one node, and rematerializes outside of it the values
// that are cheaper to recompute than to store.
#include <algorithm>
#include <utility>

#include "loops/target.h"
#include "regions/recompute.h"
#include "regions/search.h"

namespace thunder {
namespace {

// How often a node is recomputed at most, over all regions.
constexpr uint8_t kMaxRecomputations = 3;

}  // namespace

size_t Regions::form_region_from(size_t first) {
  partition_window(first, first + taken_.size(), [&](size_t i) { return taken_[i - first]; });
  if (nodes_.size() < 2) return 0;
  if (nodes_.size() != static_cast<size_t>(std::count(taken_.begin(), taken_.end(), true))) state_ = nullptr;
  // Nodes after the last one of the region stay where they are.
  while (sides_.back() != Side::inside) sides_.pop_back();
  before_.clear(), after_.clear();
  for (size_t i = 0; i < sides_.size(); i++)
    if (sides_[i] != Side::inside) (sides_[i] == Side::before ? before_ : after_).push_back(entries_[first + i]);
  remove_uses();
  const size_t taken = nodes_.size();
  std::vector<const Node*> again = split_recomputed();
  if (!again.empty()) {
    RegionState of_all = std::exchange(state_, nullptr);
    if (!fits() && !(remove_unconnected() && fits())) undo_split(again), state_ = std::move(of_all);
  }
  const auto views = static_cast<size_t>(
      std::count_if(again.begin(), again.end(), [](const Node* n) { return static_cast<bool>(def(*n).view); }));
  // There may be no nodes left, if all of them are recomputed where they are read.
  const size_t room = taken - views - unconnected_.size() - !nodes_.empty();
  auto to = std::fill_n(entries_.begin() + static_cast<ptrdiff_t>(first), room, Entry());
  to = std::copy(before_.begin(), before_.end(), to);
  for (const Node* n : unconnected_) *to++ = make_entry(n, true, false);
  if (!nodes_.empty()) *to++ = make_entry(nodes_.size() == 1 ? single_node() : make_region(), false, false);
  const auto after = static_cast<size_t>(to - entries_.begin());
  for (const Node* n : again)
    if (def(*n).view) *to++ = make_entry(n, true, is_shared_broadcast(*n));
  std::copy(after_.begin(), after_.end(), to);
  for (size_t i = again.size(); i-- > 0;)
    if (!def(*again[i]).view) sink(again[i], after);
  return room + 1;
}

const Node* Regions::single_node() {
  for_each_value(nodes_[0]->args, [&](ValueId v) { uses_[v]++; });
  return nodes_[0];
}

void Regions::sink(const Node* n, size_t from) {
  const auto reads = [&](const Entry& entry) {
    const auto read = values_.reads(entry.values);
    return std::find(read.begin(), read.end(), n->results[0]) != read.end();
  };
  const auto at = std::find_if(entries_.begin() + static_cast<ptrdiff_t>(from), entries_.end(), reads);
  entries_.insert(at, make_entry(n, true, false));
}

void Regions::remove_uses() {
  for (const Node* n : nodes_) for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
}

std::vector<const Node*> Regions::split_recomputed() {
  Store& store = *trace_.store;
  std::vector<const Node*> again;
  nodes_before_split_ = nodes_, unconnected_.clear();
  const ExecutorDesc& d = executor_.desc();
  const Recompute recompute(store, nodes_, materialized_, uses_, broadcast_from_,
                            d.recomputed_instructions ? d.recomputed_instructions(*nodes_[0], store, d.user)
                                                      : loops::Capabilities().recomputed_instructions);
  for (size_t i = nodes_.size(); i-- > 0;) {  // backwards, since the operands may be recomputed too
    const Node* n = nodes_[i];
    if (!uses_[n->results[0]] || !(def(*n).view ? inside_.has(n->args[0].v) : recompute.is_cheaper(*n))) continue;
    again.insert(again.begin(), n);
    if (!def(*n).view) materialized_[n->results[0]] = ++times_recomputed_[n->results[0]] == kMaxRecomputations;
    for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
    const ValueId own[] = {store.add(store.type(n->results[0]))};
    nodes_[i] = store.node(n->op, n->args, own, {}, n->where, n->executor);
    replacements_.resize(store.size(), kNoValue);
    replacements_[n->results[0]] = own[0];
  }
  if (again.empty()) return again;
  for (const Node*& n : nodes_) n = store.substitute(n, replacements_);
  for (const Node* n : again) replacements_[n->results[0]] = kNoValue;
  uses_.resize(store.size(), 0), inside_.resize(store.size()), connections_.resize(store.size()),
      materialized_.resize(store.size(), 0);
  broadcast_from_.resize(store.size(), kNoValue), times_recomputed_.resize(store.size(), 0);
  remove_dead_nodes();
  for (const Node* n : nodes_) inside_.add(*n);
  return again;
}

bool Regions::fits() {
  const ExecutorDesc& d = executor_.desc();
  return nodes_.size() < 2 || !d.fits || d.fits(nodes_, *trace_.store, state_, d.user);
}

bool Regions::remove_unconnected() {
  inputs_.clear(), inputs_.resize(trace_.store->size());
  for (const Node* n : nodes_) for_each_value(n->args, [&](ValueId v) { inputs_.add(v); });
  for (const Node* n : nodes_)
    if (!inside_.read_by(*n) && !inputs_.has(n->results[0]) && !def(*n).view) unconnected_.push_back(n);
  for (const Node* n : unconnected_) {
    std::erase(nodes_, n);
    for_each_value(n->args, [&](ValueId v) { uses_[v]++; });
  }
  return !unconnected_.empty();
}

void Regions::undo_split(std::vector<const Node*>& again) {
  for (const Node* n : unconnected_) for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
  unconnected_.clear();
  for (const Node* n : again) {
    for_each_value(n->args, [&](ValueId v) { uses_[v]--; });
    if (!def(*n).view) materialized_[n->results[0]] = 0, times_recomputed_[n->results[0]]--;
  }
  nodes_ = nodes_before_split_;
  again.clear();
}

void Regions::remove_dead_nodes() {
  inputs_.clear(), inputs_.resize(trace_.store->size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    const Node* n = nodes_[i];
    if (!uses_[n->results[0]] && !inputs_.has(n->results[0]) && n->results.size() == 1)
      nodes_.erase(nodes_.begin() + static_cast<ptrdiff_t>(i));
    else
      for_each_value(n->args, [&](ValueId v) { inputs_.add(v); });
  }
}

const Node* Regions::make_region() {
  inputs_.clear();
  std::vector<ValueId> inputs, results;
  for (const Node* n : nodes_)
    for_each_value(n->args, [&](ValueId v) {
      if (!inside_.has(v) && inputs_.add(v)) inputs.push_back(v);
    });
  for (ValueId v : inputs) uses_[v]++;
  for (const Node* n : nodes_)
    for (ValueId r : n->results)
      if (uses_[r]) results.push_back(r);
  const Arg args[] = {Arg::values(inputs)};
  const Node* made = trace_.store->node(&op_, args, results, nodes_, nodes_[0]->where, name_);
  states_[made] = std::move(state_);
  return made;
}

}  // namespace thunder
