#include "executors/claim.h"

#include <algorithm>

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

namespace {

// The lines that `executor` takes as one region starting at `first`, fewer than two: none. A line stays out when it
// needs one that stayed out, since the region runs where its first line stood.
std::vector<size_t> region_at(const Trace& trace, size_t first, const Executor& executor, const std::vector<bool>& candidate) {
  std::vector<const Node*> run;
  for (size_t i = first; i < trace.nodes.size() && candidate[i]; i++) run.push_back(trace.nodes[i]);
  std::vector<uint8_t> taken(run.size(), 0);
  if (run.size() < 2 || !executor.desc().claim_region(run, *trace.store, taken.data(), executor.desc().user) || !taken[0]) return {};
  std::vector<ValueId> outside;
  std::vector<size_t> lines;
  for (size_t i = 0; i < run.size(); i++) {
    bool inside = taken[i];
    for_each_value(run[i]->args, [&](ValueId v) { inside = inside && std::find(outside.begin(), outside.end(), v) == outside.end(); });
    if (inside) lines.push_back(first + i);
    else outside.insert(outside.end(), run[i]->results.begin(), run[i]->results.end());
  }
  return lines.size() < 2 ? std::vector<size_t>() : lines;
}

// One line for the region: what it reads from outside, and what is read of it.
const Node* make_region(const Trace& trace, const std::vector<size_t>& lines, const Op& op, const char* executor) {
  std::vector<bool> made(trace.store->size()), in_region(trace.nodes.size()), used(trace.store->size());
  for (size_t i : lines) in_region[i] = true;
  for (size_t i = 0; i < trace.nodes.size(); i++)
    if (!in_region[i]) for_each_value(trace.nodes[i]->args, [&](ValueId v) { used[v] = true; });
  for (ValueId v : trace.outputs) used[v] = true;
  for (const Write& w : trace.writes) used[w.value] = true;
  std::vector<ValueId> inputs, results;
  std::vector<const Node*> body;
  for (size_t i : lines) {
    const Node* n = trace.nodes[i];
    body.push_back(n);
    for_each_value(n->args, [&](ValueId v) {
      if (!made[v] && std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
    });
    for (ValueId r : n->results) {
      made[r] = true;
      if (used[r]) results.push_back(r);
    }
  }
  const Arg args[] = {Arg::values(inputs)};
  return trace.store->node(&op, args, results, body, trace.nodes[lines[0]]->where, executor);
}

void claim_regions(Trace& trace, const Executor& executor, const Op& region) {
  const char* name = trace.store->text(executor.name());
  std::vector<bool> candidate;
  for (const Node* n : trace.nodes) candidate.push_back(!n->executor && executor.claims({*n, *trace.store}));
  for (size_t i = 0; i < trace.nodes.size(); i++) {
    if (!candidate[i]) continue;
    const auto lines = region_at(trace, i, executor, candidate);
    if (lines.empty()) continue;
    trace.nodes[i] = make_region(trace, lines, region, name);
    candidate[i] = false;
    for (size_t k = lines.size(); k-- > 1;) {
      trace.nodes.erase(trace.nodes.begin() + static_cast<ptrdiff_t>(lines[k]));
      candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(lines[k]));
    }
  }
}

}  // namespace

Trace claim(const Trace& trace, const Executors& executors, const Op& region) {
  Trace out = trace;
  for (auto& e : executors) {
    if (e->desc().claim_region) claim_regions(out, *e, region);
    for (const Node*& node : out.nodes)
      if (!node->executor && e->claims({*node, *trace.store})) node = trace.store->claimed(node, trace.store->text(e->name()));
  }
  for (const Node* node : out.nodes)
    if (!node->executor) nobody(*node, executors);
  return out;
}

}  // namespace thunder
