// The history of tensors in segments that have run: by memory, by views of it, and by lines that were recorded again.
#include <algorithm>

#include "base/text.h"
#include "tracer/segments.h"

namespace thunder {

SegmentScope::Origin SegmentScope::original(Origin at) const {
  const auto it = copies_.find(at);
  return it == copies_.end() ? at : it->second;
}

std::optional<SegmentScope::Origin> SegmentScope::taken_first(Origin at) const {
  at = original(at);
  if (!memory(at.segment).view_of(at.value)) return std::nullopt;
  at.value = memory(at.segment).taken_first(at.value);
  const auto& taken = at.segment == past_.size() ? taken_ : past_[at.segment].taken;
  const auto it = taken.find(at.value);
  return it == taken.end() ? at : it->second.at;
}

uint64_t SegmentScope::version_after(const Past& p, const Tensor& memory) {
  for (size_t i = 0; i < p.trace.writes.size(); i++)
    if (p.inputs[p.trace.writes[i].input]->storage() == memory.storage()) return p.written[i];
  for (size_t i = 0; i < p.inputs.size(); i++)
    if (p.inputs[i]->concrete() && p.inputs[i]->storage() == memory.storage()) return p.before[i];
  for (size_t i = 0; i < p.outputs.size(); i++)
    if (p.outputs[i]->storage() == memory.storage()) return p.made[i];
  return 0;
}

std::vector<SegmentScope::Origin> SegmentScope::uses(const Place& at, const Tensor& memory) const {
  std::vector<Origin> out;
  if (!at.path.empty()) {
    const Origin& taken = at.path.back().at;
    if (taken.segment == past_.size()) return {};
    out.push_back(taken);
    if (const auto later = later_.find(taken); later != later_.end())
      out.insert(out.end(), later->second.begin(), later->second.end());
    return out;
  }
  const auto same = [&](const Tensor& t) {
    return t.concrete() && t.storage() == memory.storage() && t.offset() == memory.offset() &&
           t.strides() == memory.strides() && t.type() == memory.type();
  };
  for (size_t k = 0; k < past_.size(); k++) {
    const Past& p = past_[k];
    for (size_t i = 0; i < p.inputs.size(); i++)
      if (same(*p.inputs[i])) out.push_back({k, p.trace.inputs[i].value});
    for (size_t i = 0; i < p.outputs.size(); i++)
      if (same(*p.outputs[i])) out.push_back({k, p.trace.outputs[i]});
  }
  return out;
}

SegmentScope::Contents SegmentScope::contents(ValueId given) const {
  const Place at = locate(given, held_by_inputs());
  if (at.input == SIZE_MAX) return {};  // its memory is of this segment
  const Ref<Tensor> memory = input_tensor(at.input);
  if (!memory->concrete()) return {};
  const ValueId input = inputs()[at.input].value;
  const bool written = recorder().memory().latest(input) != input;
  Contents out;
  for (const Origin& use : uses(at, *memory)) {
    const Past& p = past_[use.segment];
    const bool still = !written && version_after(p, *memory) == memory->storage()->version();
    const std::vector<ValueId> seen = p.memory.history(use.value);
    for (size_t i = 0; i < seen.size(); i++) {
      if (seen[i] == kNoValue) continue;
      (still && i + 1 == seen.size() ? out.now : out.before).push_back({use.segment, seen[i]});
    }
  }
  return out;
}

std::optional<SegmentScope::Made> SegmentScope::find_maker(size_t before, const Tensor& t, uint64_t version) const {
  if (!t.concrete()) return {};
  for (size_t j = before; j-- > 0;) {
    const Past& p = past_[j];
    for (size_t i = 0; i < p.trace.writes.size(); i++) {
      const Tensor& written = *p.inputs[p.trace.writes[i].input];
      if (written.storage() == t.storage() && p.written[i] == version)
        return Made{{j, p.trace.writes[i].value}, &written};
    }
    for (size_t i = 0; i < p.outputs.size(); i++)
      if (p.outputs[i]->storage() == t.storage() && p.made[i] == version)
        return Made{{j, p.trace.outputs[i]}, p.outputs[i].get()};
  }
  return {};
}

// For each segment the values that the loss was computed from.
std::vector<std::vector<bool>> SegmentScope::reach(const Past& current, ValueId loss) const {
  const size_t now = past_.size();
  std::vector<std::vector<bool>> reached(now + 1);
  for (size_t k = 0; k <= now; k++) reached[k].assign((k < now ? past_[k] : current).trace.store->size(), false);
  reached[now][loss] = true;
  for (size_t k = now + 1; k-- > 0;) {
    const Past& p = k < now ? past_[k] : current;
    for (size_t i = p.trace.nodes.size(); i-- > 0;) {
      const Node& n = *p.trace.nodes[i];
      if (std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return reached[k][r]; }))
        for_each_value(n.args, [&](ValueId v) { reached[k][v] = true; });
    }
    for (size_t i = 0; i < p.inputs.size(); i++) {
      if (!reached[k][p.trace.inputs[i].value]) continue;
      if (const auto made = find_maker(k, *p.inputs[i], p.before[i])) reached[made->at.segment][made->at.value] = true;
    }
  }
  return reached;
}

void SegmentScope::require_current(const Past& current, ValueId loss, ValueId wrt, const Contents& held) const {
  const auto reached = reach(current, loss);
  const auto is_used = [&](const Origin& at) { return reached[at.segment][at.value]; };
  const auto used = [&](const std::vector<Origin>& values) {
    return std::any_of(values.begin(), values.end(), [&](const Origin& at) {
      return is_used(at) || std::any_of(copies_.begin(), copies_.end(),
                                        [&](auto& c) { return c.second == original(at) && is_used(c.first); });
    });
  };
  if (!is_used({past_.size(), wrt}) && !used(held.now)) require(!used(held.before), kWrittenAfterUse);
}

}  // namespace thunder
