#include "passes/materialize.h"

#include <algorithm>

#include "tracer/recorder.h"

namespace thunder {
namespace {

// Whether memory that this trace writes for the value alone could be what it returns.
bool could_be_returned(const std::vector<const Node*>& producers, ValueId v) {
  const Node* line = producers[v];
  while (line && def(*line).view && line->op->name() == "prims.reshape") line = producers[line->args[0].v];
  return line && !def(*line).view;
}

}  // namespace

std::optional<Trace> materialize(const Trace& trace, PassContext& context) {
  std::vector<const Node*> producers(trace.store->size(), nullptr);
  for (const Node* n : trace.nodes)
    for (ValueId r : n->results) producers[r] = n;
  const auto stays = [&](ValueId v) { return could_be_returned(producers, v); };
  if (std::all_of(trace.outputs.begin(), trace.outputs.end(), stays)) return std::nullopt;
  Trace out = trace;
  Recorder recorder(context.registry, trace.store);
  for (ValueId& v : out.outputs) {
    if (stays(v)) continue;
    if (producers[v]) recorder.set_where(producers[v]->where);
    v = recorder.call("prims.clone", {Var{&recorder, v}}).id;
  }
  out.nodes.insert(out.nodes.end(), recorder.nodes().begin(), recorder.nodes().end());
  return out;
}

}  // namespace thunder
