// Of which recorded values the ranks of an axis have a part each.
#include <unordered_map>

#include "ops/world_collectives.h"
#include "tracer/tracing.h"

namespace thunder {
namespace {

// Along an axis; "": any.
bool has_collective(const Node& n, std::string_view axis) {
  if (runs_collective(def(n))) return axis.empty() || axis_of(n) == axis;
  return std::any_of(n.body.begin(), n.body.end(), [&](const Node* inner) { return has_collective(*inner, axis); });
}

class PartsOfValues {
 public:
  PartsOfValues(std::span<const Input> inputs, std::span<const Ref<Tensor>> captured,
                std::span<const Node* const> nodes) {
    for (size_t i = 0; i < inputs.size(); i++) inputs_.emplace(inputs[i].value, captured[i].get());
    for (const Node* n : nodes)
      for (ValueId r : n->results) producers_.emplace(r, n);
  }

  const ValuePart& part(ValueId v) {
    const auto [it, fresh] = known_.try_emplace(v);  // stays where it is
    if (fresh) it->second = find(v);
    return it->second;
  }

 private:
  ValuePart find(ValueId v) {
    if (const auto in = inputs_.find(v); in != inputs_.end()) {
      const auto of = in->second ? in->second->sharding() : nullptr;
      return {of, of != nullptr};
    }
    const auto made = producers_.find(v);
    if (made == producers_.end()) return {};
    const Node& n = *made->second;
    if (n.op->name() == "grad") {  // of each value of its list, that is as it is
      const auto of = static_cast<size_t>(std::find(n.results.begin(), n.results.end(), v) - n.results.begin());
      return {part(n.args[1].value_list()[of]).of, true};
    }
    ValuePart all{nullptr, true};
    for_each_value(n.args, [&](ValueId arg) {
      const ValuePart& one = part(arg);
      if (one.of) all.of = one.of;
      all.known = all.known && one.known;
    });
    // What a collective gives is no part of a parameter whose ranks are along its axis, whatever its operand was.
    if (all.of) return {has_collective(n, all.of->axis) ? nullptr : all.of, true};
    return {nullptr, all.known || has_collective(n, "")};
  }

  std::unordered_map<ValueId, const Tensor*> inputs_;
  std::unordered_map<ValueId, const Node*> producers_;
  std::unordered_map<ValueId, ValuePart> known_;
};

}  // namespace

std::vector<ValuePart> TracingScope::parts(std::span<const ValueId> values) {
  recorder_->build();
  PartsOfValues found(inputs_, captured_, recorder_->nodes());
  std::vector<ValuePart> out;
  for (ValueId v : values) out.push_back(found.part(v));
  return out;
}

}  // namespace thunder
