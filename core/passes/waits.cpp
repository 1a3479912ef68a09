#include "passes/waits.h"

#include "ir/prim.h"
#include "ir/value_set.h"
#include "ops/world_collectives.h"

namespace thunder {

std::optional<Trace> waits(const Trace& claimed, PassContext& context) {
  const Op& wait = context.registry.get(Prim::wait);
  Store& store = *claimed.store;
  ValueSet started(store.size());  // by lines that are waited for
  for (const Node* n : claimed.nodes)
    if (n->op == &wait) started.add(n->args[0].v);
  Trace out = claimed;
  out.nodes.clear();
  for (const Node* n : claimed.nodes) {
    if (!n->executor || n->executor != kCollectivesExecutor || !runs_collective(def(*n)) ||
        started.has(n->results[0])) {
      out.nodes.push_back(n);
      continue;
    }
    const ValueId begun = store.add(store.type(n->results[0]));
    out.nodes.push_back(store.node(n->op, n->args, {&begun, 1}, {}, n->where, n->executor));
    const Arg args[] = {Arg::value(begun), n->args[0], Arg::boolean(true)};
    out.nodes.push_back(store.node(&wait, args, n->results, {}, n->where, n->executor));
  }
  if (out.nodes.size() == claimed.nodes.size()) return std::nullopt;
  return out;
}

}  // namespace thunder
