#include "executors/claim.h"

#include <unordered_map>

#include "base/text.h"
#include "executors/rematerialize.h"
#include "executors/regions.h"
#include "executors/siblings.h"

namespace thunder {
namespace {

// The executors that are asked about each op: a trace has few ops and many nodes, so names are compared once an op.
class ExecutorsOfOps {
 public:
  explicit ExecutorsOfOps(const Executors& executors) : executors_(executors) {}
  const std::vector<const Executor*>& of(const Op& op) {
    auto [it, fresh] = by_op_.try_emplace(&op);
    for (size_t i = 0; fresh && i < executors_.size(); i++)
      if (executors_[i]->asks_for(op.name())) it->second.push_back(executors_[i].get());
    return it->second;
  }

 private:
  const Executors& executors_;
  std::unordered_map<const Op*, std::vector<const Executor*>> by_op_;
};

template <class List>
const Executor* first_claimant(const NodeView& view, const List& executors) {
  for (auto& e : executors)
    if (e->claims(view)) return &*e;
  return nullptr;
}

[[noreturn]] void fail_unclaimed(const Node& node, const Executors& executors) {
  fail(Code::unimplemented, node.op->name(), ": no executor takes it; asked: ",
       join(executors, ", ", [](auto& e) { return e->name(); }), node.where ? cat(" [at ", node.where, "]") : "");
}

}  // namespace

const Executor* claimant(const NodeView& view, const Executors& executors) { return first_claimant(view, executors); }

Trace descend(const Trace& trace, const Executors& executors) {
  Trace out = trace;
  out.nodes.clear();
  out.nodes.reserve(trace.nodes.size() * 4);
  ExecutorsOfOps asked(executors);
  std::vector<const Node*> todo(trace.nodes.rbegin(), trace.nodes.rend());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (first_claimant({*node, *trace.store}, asked.of(*node->op))) {
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
    if (e->desc().claim_region) {
      claim_regions(out, *e, region, states);
      rematerialize_in_regions(out, *e, region, states);
      join_siblings(out, *e, region, states);
    }
    const char* const name = trace.store->text(e->name());
    std::unordered_map<const Op*, bool> asked;
    for (const Node*& node : out.nodes) {
      if (node->executor) continue;
      auto [it, fresh] = asked.try_emplace(node->op);
      if (fresh) it->second = e->asks_for(node->op->name());
      if (it->second && e->claims({*node, *trace.store})) node = trace.store->claimed(node, name);
    }
  }
  for (const Node* node : out.nodes)
    if (!node->executor) fail_unclaimed(*node, executors);
  return out;
}

}  // namespace thunder
