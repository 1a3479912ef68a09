#include "passes/grad.h"

#include "tracer/recorder.h"

namespace thunder {
namespace {

// Gives each backward node the source line of the node whose gradient it is.
class PlacedBackward final : public Backward {
 public:
  PlacedBackward(Recorder& recorder, std::span<const Node* const> nodes, RuleFor rule, const void* rules)
      : Backward(recorder, nodes, true, rule, rules), recorder_(recorder) {}

 private:
  void begin(const Node& node) override { recorder_.set_where(node.where); }

  Recorder& recorder_;
};

}  // namespace

// Expands gradients in the order of the trace. So the nodes before an outer gradient already contain the backward nodes
// of an inner one, and a gradient of a gradient needs no special case.
std::optional<Trace> expand_gradients(const Trace& trace, const Registry& registry, RuleFor rule, const void* rules) {
  const Op* grad = registry.find("grad");
  bool any = false;
  for (const Node* n : trace.nodes) any |= n->op == grad;
  if (!any) return std::nullopt;

  Trace out = trace;
  Recorder recorder(registry, trace.store);
  std::vector<ValueId> to(trace.store->size(), kNoValue);
  auto mapped = [&](ValueId v) { return v < to.size() && to[v] != kNoValue ? to[v] : v; };
  for (const Node* n : trace.nodes) {
    n = trace.store->substitute(n, to);
    if (n->op != grad) {
      recorder.nodes().push_back(n);
      continue;
    }
    recorder.set_where(n->where);
    std::vector<const Node*> before = recorder.nodes();
    std::vector<ValueId> made =
        PlacedBackward(recorder, before, rule, rules).run(n->args[0].v, n->args[1].value_list());
    for (size_t i = 0; i < made.size(); i++) to[n->results[i]] = made[i];
  }
  out.nodes = std::move(recorder.nodes());
  for (ValueId& v : out.outputs) v = mapped(v);
  for (Write& w : out.writes) w.value = mapped(w.value);
  return out;
}

}  // namespace thunder
