#include "compile/claim.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace thunder {
namespace {

// The executors that are asked about each op: a trace has few ops and many nodes, so names are compared once an op.
class ExecutorsOfOps {
 public:
  explicit ExecutorsOfOps(const Executors& executors) : executors_(executors) {}
  const std::vector<const Executor*>& of(const Op& op) {
    auto [it, fresh] = by_op_.try_emplace(&op);
    for (size_t i = 0; fresh && i < executors_.size(); i++)
      if (executors_[i]->may_claim(op.name())) it->second.push_back(executors_[i].get());
    return it->second;
  }

 private:
  const Executors& executors_;
  std::unordered_map<const Op*, std::vector<const Executor*>> by_op_;
};

const Executor* first_claimant(const NodeView& view, const std::vector<const Executor*>& executors) {
  const auto it = std::find_if(executors.begin(), executors.end(), [&](auto* e) { return e->claims(view); });
  return it == executors.end() ? nullptr : *it;
}

[[noreturn]] void fail_unclaimed(const Node& node, const Executors& executors) {
  fail(Code::unimplemented, node.op->name(), ": no executor takes it; asked: ",
       join(executors, ", ", [](auto& e) { return e->name(); }), node.where ? cat(" [at ", node.where, "]") : "");
}

bool is_claimed(const Node& n, const Executors& by) {
  return n.executor && std::any_of(by.begin(), by.end(), [&](auto& e) { return e->name() == n.executor; });
}

}  // namespace

Trace descend(const Trace& trace, const Executors& executors, const CompileSettings& settings) {
  Trace out = trace;
  out.nodes.clear();
  out.nodes.reserve(trace.nodes.size() * 4);
  ExecutorsOfOps asked(executors);
  std::vector<const Node*> todo(trace.nodes.rbegin(), trace.nodes.rend());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    const NodeView view{*node, *trace.store, settings};
    if (is_claimed(*node, executors) || first_claimant(view, asked.of(*node->op))) {
      out.nodes.push_back(node);
      continue;
    }
    if (node->op->prim) fail_unclaimed(*node, executors);
    todo.insert(todo.end(), node->body.rbegin(), node->body.rend());
  }
  return out;
}

Trace claim(const Trace& trace, const Executors& executors, const CompileSettings& settings) {
  Trace out = trace;
  ExecutorsOfOps asked(executors);
  std::unordered_map<const Executor*, const char*> names;  // in the store
  for (const Node*& node : out.nodes) {
    if (is_claimed(*node, executors)) continue;
    const Executor* by = first_claimant({*node, *trace.store, settings}, asked.of(*node->op));
    if (!by) fail_unclaimed(*node, executors);
    auto [name, fresh] = names.try_emplace(by, nullptr);
    if (fresh) name->second = trace.store->text(by->name());
    node = trace.store->claimed(node, name->second);
  }
  return out;
}

bool is_claimed_as_before(const Trace& claimed, const SizesOfClass& of, const Executors& executors, const Op& region,
                          const CompileSettings& settings) {
  ExecutorsOfOps asked(executors);
  // A view has no kernel, or one that any of ours makes for any size; only the caller's executors are asked about it.
  const bool asks_of_views =
      std::any_of(executors.begin(), executors.end(), [](auto& e) { return (e->desc().flags & kMayFail) != 0; });
  for (uint32_t i = 0; i < claimed.nodes.size(); i++) {
    if (claimed.nodes[i]->op == &region || of.plan->alike()[i] != i) continue;
    if (!asks_of_views && def(*claimed.nodes[i]).view) continue;
    const Node& n = *(*of.specialise)(claimed.nodes[i]);
    const Executor* by = first_claimant({n, *claimed.store, settings}, asked.of(*n.op));
    if (!by || by->name() != n.executor) return false;
  }
  return true;
}

}  // namespace thunder
