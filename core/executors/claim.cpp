#include "executors/claim.h"

#include "base/text.h"
#include "executors/regions.h"
#include "executors/siblings.h"

namespace thunder {
namespace {

[[noreturn]] void fail_unclaimed(const Node& node, const Executors& executors) {
  fail(Code::unimplemented, node.op->name(), ": no executor takes it; asked: ",
       join(executors, ", ", [](auto& e) { return e->name(); }), node.where ? cat(" [at ", node.where, "]") : "");
}

}  // namespace

const Executor* claimant(const NodeView& view, const Executors& executors) {
  for (auto& e : executors)
    if (e->claims(view)) return e.get();
  return nullptr;
}

Trace descend(const Trace& trace, const Executors& executors) {
  Trace out = trace;
  out.nodes.clear();
  out.nodes.reserve(trace.nodes.size() * 4);
  std::vector<const Node*> todo(trace.nodes.rbegin(), trace.nodes.rend());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (claimant({*node, *trace.store}, executors)) {
      out.nodes.push_back(node);
      continue;
    }
    if (node->op->prim) fail_unclaimed(*node, executors);
    todo.insert(todo.end(), node->body.rbegin(), node->body.rend());
  }
  return out;
}

Trace claim(const Trace& trace, const Executors& executors, const Op& region, RegionStates& states) {
  Trace out = trace;
  for (auto& e : executors) {
    if (e->desc().claim_region) claim_regions(out, *e, region, states), join_siblings(out, *e, region, states);
    for (const Node*& node : out.nodes)
      if (!node->executor && e->claims({*node, *trace.store}))
        node = trace.store->claimed(node, trace.store->text(e->name()));
  }
  for (const Node* node : out.nodes)
    if (!node->executor) fail_unclaimed(*node, executors);
  return out;
}

}  // namespace thunder
