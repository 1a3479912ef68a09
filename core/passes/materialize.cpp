#include "passes/materialize.h"

#include <algorithm>

#include "tracer/recorder.h"

namespace thunder {
namespace {

class Returned {
 public:
  Returned(const Trace& trace, const Registry& registry) : producers_(trace.store->size(), nullptr) {
    for (const char* name : {"prims.reshape", "prims.contiguous", "prims.detach"})
      keep_order_.push_back(registry.find(name));
    for (const Node* n : trace.nodes)
      for (ValueId r : n->results) producers_[r] = n;
  }

  const Node* producer(ValueId v) const { return producers_[v]; }
  // The value whose elements these are, in the same order.
  ValueId origin(ValueId v) const {
    while (producers_[v] && std::find(keep_order_.begin(), keep_order_.end(), producers_[v]->op) != keep_order_.end())
      v = producers_[v]->args[0].v;
    return v;
  }
  // Whether the trace makes memory that could be what it returns.
  bool stays(ValueId v) const {
    const Node* line = producers_[origin(v)];
    return line && !def(*line).view;
  }

 private:
  std::vector<const OpDef*> keep_order_;
  std::vector<const Node*> producers_;
};

}  // namespace

std::optional<Trace> materialize(const Trace& trace, PassContext& context) {
  const Returned returned(trace, context.registry);
  if (std::all_of(trace.outputs.begin(), trace.outputs.end(), [&](ValueId v) { return returned.stays(v); }))
    return std::nullopt;
  Trace out = trace;
  Recorder recorder(context.registry, trace.store);
  for (ValueId& v : out.outputs) {
    if (returned.stays(v)) continue;
    if (const Node* line = returned.producer(v)) recorder.set_where(line->where);
    v = reshape_to(recorder.call("prims.clone", {recorder.var(returned.origin(v))}), trace.type(v).shape).id;
  }
  out.nodes.insert(out.nodes.end(), recorder.nodes().begin(), recorder.nodes().end());
  return out;
}

}  // namespace thunder
