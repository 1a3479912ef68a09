#include "regions/recompute.h"

#include <algorithm>

namespace thunder {
namespace {

// About what an elementwise function takes that is no single instruction: exp, tanh, a division.
constexpr size_t kInstructionsOfFunction = 16;
constexpr size_t kMaxReads = 2;  // operands as large as the result
// A value that is this many times smaller than another one costs nearly nothing to store and to read.
constexpr int64_t kSmall = 16;

}  // namespace

size_t count_instructions(const Node& node) { return def(node).has(kCheap) ? 1 : kInstructionsOfFunction; }

int64_t bytes_of(ValueId v, const Store& store) {
  return elements(store.type(v).shape).value() * static_cast<int64_t>(size_of(store.type(v).dtype));
}

bool is_small_beside(ValueId one, ValueId other, const Store& store) {
  return elements(store.type(one).shape).value() * kSmall <= elements(store.type(other).shape).value();
}

Recompute::Recompute(const Store& store, std::span<const Node* const> region, const std::vector<uint8_t>& stored,
                     const std::vector<uint32_t>& uses, const std::vector<ValueId>& broadcast_from,
                     size_t most_instructions)
    : store_(store),
      stored_(stored),
      uses_(uses),
      broadcast_from_(broadcast_from),
      most_instructions_(most_instructions) {
  for (const Node* n : region) for (ValueId r : n->results) makers_[r] = n;
}

bool Recompute::is_cheaper(const Node& node) const {
  Cost cost;
  const ValueId made = node.results[0];
  return !stored_[made] && add_cost(node, made, cost) && cost.read.size() <= kMaxReads;
}

bool Recompute::add_cost(const Node& node, ValueId made, Cost& cost) const {
  const bool on_device = store_.type(made).device != Device::cpu;
  if (on_device) {
    if (std::find(cost.made.begin(), cost.made.end(), node.results[0]) != cost.made.end()) return true;
    cost.made.push_back(node.results[0]);
  }
  if (!def(node).view) {
    if (!def(node).has(kElementwise) || def(node).has(kRandom)) return false;
    cost.instructions += count_instructions(node);
    if (cost.instructions > most_instructions_) return false;
  }
  bool fits = true;
  for_each_value(node.args, [&](ValueId v) {
    if (!fits || is_small(v, made)) return;
    const auto maker = makers_.find(v);
    if (maker != makers_.end() && !stored_[v]) {
      const Cost before = cost;
      const bool can_make = add_cost(*maker->second, made, cost);
      const bool is_stored = uses_[v] != 0;  // for other readers anyway
      if (can_make && !(on_device && is_stored && cost.read.size() > kMaxReads)) return;
      cost = before;
      fits = is_stored;
    }
    if (std::find(cost.read.begin(), cost.read.end(), v) == cost.read.end()) cost.read.push_back(v);
  });
  return fits;
}

bool Recompute::is_small(ValueId v, ValueId made) const {
  while (broadcast_from_[v] != kNoValue) v = broadcast_from_[v];
  return is_small_beside(v, made, store_);
}

}  // namespace thunder
