#include "passes/materialize.h"

#include <algorithm>

#include "tracer/recorder.h"

namespace thunder {
namespace {

class Returned {
 public:
  Returned(const Trace& trace, const Registry& registry) : producers_(trace.store->size(), nullptr) {
    for (const char* name : {"prims.reshape", "prims.contiguous", "prims.alias", "prims.detach"})
      keep_order_.push_back(registry.find(name));
    for (const Node* n : trace.nodes)
      for (ValueId r : n->results) producers_[r] = n;
  }

  const Node* producer(ValueId v) const { return producers_[v]; }
  // The value that has the same elements in the same order, before reshapes.
  ValueId origin(ValueId v) const {
    while (producers_[v] && std::find(keep_order_.begin(), keep_order_.end(), producers_[v]->op) != keep_order_.end())
      v = producers_[v]->args[0].v;
    return v;
  }
  // Whether the trace allocates the memory of the value, so that it may be returned without a copy.
  bool owns_memory(ValueId v) const {
    const Node* node = producers_[origin(v)];
    return node && !def(*node).view;
  }

 private:
  std::vector<const OpDef*> keep_order_;
  std::vector<const Node*> producers_;
};

}  // namespace

std::optional<Trace> materialize(const Trace& trace, PassContext& context) {
  const Returned returned(trace, context.registry);
  if (std::all_of(trace.outputs.begin(), trace.outputs.end(), [&](ValueId v) { return returned.owns_memory(v); }))
    return std::nullopt;
  Trace out = trace;
  Recorder recorder(context.registry, trace.store);
  for (ValueId& v : out.outputs) {
    if (returned.owns_memory(v)) continue;
    if (const Node* node = returned.producer(v)) recorder.set_where(node->where);
    v = reshape_to(recorder.call("prims.clone", {recorder.var(returned.origin(v))}), trace.type(v).shape).id;
  }
  out.nodes.insert(out.nodes.end(), recorder.nodes().begin(), recorder.nodes().end());
  return out;
}

}  // namespace thunder
