#include "passes/materialize.h"

#include <algorithm>

#include "ir/prim.h"
#include "tracer/recorder.h"

namespace thunder {
namespace {

class Returned {
 public:
  explicit Returned(const Trace& trace) : producers_(trace.store->size(), nullptr) {
    for (const Node* n : trace.nodes)
      for (ValueId r : n->results) producers_[r] = n;
  }

  const Node* producer(ValueId v) const { return producers_[v]; }
  // The value that has the same elements in the same order, before reshapes.
  ValueId origin(ValueId v) const {
    while (producers_[v] && keeps_order(producers_[v]->op->id)) v = producers_[v]->args[0].v;
    return v;
  }
  // Whether the trace allocates the memory of the value, so that it may be returned without a copy.
  bool owns_memory(ValueId v) const {
    const Node* node = producers_[origin(v)];
    return node && !def(*node).view;
  }

 private:
  static bool keeps_order(Prim op) {
    return op == Prim::reshape || op == Prim::contiguous || op == Prim::alias || op == Prim::detach;
  }

  std::vector<const Node*> producers_;
};

}  // namespace

std::optional<Trace> materialize(const Trace& trace, PassContext& context) {
  const Returned returned(trace);
  if (std::all_of(trace.outputs.begin(), trace.outputs.end(), [&](ValueId v) { return returned.owns_memory(v); }))
    return std::nullopt;
  Trace out = trace;
  Recorder recorder(context.registry, trace.store);
  for (ValueId& v : out.outputs) {
    if (returned.owns_memory(v)) continue;
    if (const Node* node = returned.producer(v)) recorder.set_where(node->where);
    v = reshape_to(recorder.call(Prim::clone, {recorder.var(returned.origin(v))}), trace.type(v).shape).id;
  }
  out.nodes.insert(out.nodes.end(), recorder.nodes().begin(), recorder.nodes().end());
  return out;
}

}  // namespace thunder
