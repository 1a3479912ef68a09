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

bool is_claimed_as_before(const Node& line, const Store& store, const Executors& executors,
                          const CompileSettings& settings) {
  const NodeView view{line, store, settings};
  const auto claims = [&](auto& e) { return e->may_claim(line.op->name()) && e->claims(view); };
  const auto by = std::find_if(executors.begin(), executors.end(), claims);
  return by != executors.end() && (*by)->name() == line.executor;
}

namespace {

// Whether an executor may take the line at other sizes that did not at those at hand. `inside`: of a region, where our
// executors before the claimant take nothing at any size.
bool may_be_taken(const Node& n, const Executors& executors, bool inside) {
  for (const Ref<Executor>& e : executors) {
    const ExecutorDesc& d = e->desc();
    const bool is_claimant = n.executor && e->name() == n.executor, is_callers = d.flags & kMayFail;
    const bool may_take = is_callers || (!is_claimant && !d.claims_any_size && !def(n).view && !inside);
    if (may_take && e->may_claim(n.op->name())) return true;
    if (is_claimant) return false;
  }
  return false;
}

}  // namespace

std::vector<uint32_t> lines_to_ask_again(const Trace& claimed, const Executors& executors, const Op& region) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < claimed.nodes.size(); i++) {
    const Node& line = *claimed.nodes[i];
    const bool is_region = line.op == &region;
    const auto asked = [&](const Node* n) { return may_be_taken(*n, executors, is_region); };
    if (is_region ? std::any_of(line.body.begin(), line.body.end(), asked) : asked(&line)) out.push_back(i);
  }
  return out;
}

}  // namespace thunder
