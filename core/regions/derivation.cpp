#include "regions/derivation.h"

#include <algorithm>

#include "regions/recompute.h"

namespace thunder {

std::optional<ValueId> Derivation::derive(size_t most_instructions, int64_t most_bytes) {
  instructions_left_ = most_instructions, bytes_left_ = most_bytes;
  const auto made = all_.makers.find(wanted_);
  return made == all_.makers.end() ? std::nullopt : derive_line(*made->second);
}

std::optional<ValueId> Derivation::derive_value(ValueId v) {
  if (const auto known = found_.find(v); known != found_.end()) return known->second;
  std::optional<ValueId> out;
  if (v != wanted_ && std::find(inputs_.begin(), inputs_.end(), v) != inputs_.end()) out = v;
  if (!out) out = derive_small_value(v);
  if (!out) {
    const auto made = all_.makers.find(v);
    const int64_t bytes = bytes_of(v, store_);
    if (made != all_.makers.end()) out = derive_line(*made->second);
    else if (bytes && bytes <= bytes_left_) out = v, bytes_left_ -= bytes;
  }
  if (out) found_[v] = *out;
  return out;
}

std::optional<ValueId> Derivation::derive_small_value(ValueId v) {
  const auto made = all_.makers.find(v);
  if (made != all_.makers.end() && def(*made->second).view) {
    const auto of = derive_small_value(made->second->args[0].v);
    return of ? find_or_add_view(*made->second, *of) : std::nullopt;
  }
  const bool outside = made == all_.makers.end() || all_.made_at.count(v);
  return outside && is_small_beside(v, wanted_, store_) ? std::optional(v) : std::nullopt;
}

std::optional<ValueId> Derivation::find_or_add_view(const Node& n, ValueId of) {
  const auto equal = [&](const Node* other) {
    if (other->op != n.op || other->args.size() != n.args.size()) return false;
    return std::equal(n.args.begin() + 1, n.args.end(), other->args.begin() + 1, same);
  };
  if (const auto views = all_.views.find(of); views != all_.views.end())
    for (const Node* other : views->second)
      if (equal(other) && all_.made_at.at(other->results[0]) < at_) return other->results[0];
  for (const Node* other : views_)
    if (other->args[0].v == of && equal(other)) return other->results[0];
  const ValueId operand[] = {of};
  views_.push_back(clone_with_operands(n, operand));
  return views_.back()->results[0];
}

std::optional<ValueId> Derivation::derive_line(const Node& n) {
  const bool is_view = static_cast<bool>(def(n).view);
  if (n.results.size() != 1 || !(is_view || def(n).has(kElementwise)) || def(n).has(kRandom)) return std::nullopt;
  const ValueId made = n.results[0];
  const bool is_alike = store_.type(made).shape == store_.type(wanted_).shape;
  if (!is_alike && !is_small_beside(made, wanted_, store_)) return std::nullopt;
  const size_t instructions = is_alike && !is_view ? count_instructions(n) : 1;  // a small value is made once for many
  if (instructions > instructions_left_) return std::nullopt;
  instructions_left_ -= instructions;
  if (is_view) return derive_view(n);
  std::vector<ValueId> operands;
  bool all = true;
  for_each_value(n.args, [&](ValueId v) {
    const auto operand = all ? derive_value(v) : std::nullopt;
    all = operand.has_value();
    if (all) operands.push_back(*operand);
  });
  if (!all || operands.empty()) return std::nullopt;
  lines_.push_back(clone_with_operands(n, operands));
  return lines_.back()->results[0];
}

// Views of values that exist outside are outside, too: a kernel reads through them.
std::optional<ValueId> Derivation::derive_view(const Node& n) {
  const auto made = all_.makers.find(n.args[0].v);
  const auto of = made == all_.makers.end() ? std::nullopt : derive_line(*made->second);
  if (!of) return std::nullopt;
  lines_.push_back(clone_with_operands(n, {&*of, 1}));
  return lines_.back()->results[0];
}

const Node* Derivation::clone_with_operands(const Node& n, std::span<const ValueId> operands) {
  std::vector<Arg> args(n.args.begin(), n.args.end());
  size_t next = 0;
  for (Arg& a : args)
    if (a.kind == ArgKind::value) a.v = operands[next++];
  const ValueId own[] = {store_.add(store_.type(n.results[0]))};
  return store_.node(n.op, args, own, {}, n.where, n.executor);
}

}  // namespace thunder
