#include "executors/claim.h"

#include "base/text.h"

namespace thunder {
namespace {

const Executor* claimant(const NodeView& view, const Executors& executors) {
  for (auto& e : executors)
    if (e->claims(view)) return e.get();
  return nullptr;
}

[[noreturn]] void nobody(const Node& node, const Executors& executors) {
  fail(Code::unimplemented, node.op->name(), ": no executor takes it; asked: ",
       join(executors, ", ", [](auto& e) { return e->name(); }), node.where ? cat(" [at ", node.where, "]") : "");
}

}  // namespace

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
    if (node->op->prim) nobody(*node, executors);
    todo.insert(todo.end(), node->body.rbegin(), node->body.rend());
  }
  return out;
}

Trace claim(const Trace& trace, const Executors& executors) {
  Trace out = trace;
  for (const Node*& node : out.nodes) {
    const Executor* e = claimant({*node, *trace.store}, executors);
    if (!e) nobody(*node, executors);
    node = trace.store->claimed(node, trace.store->text(e->name()));
  }
  return out;
}

}  // namespace thunder
