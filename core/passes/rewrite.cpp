#include "passes/rewrite.h"

#include <algorithm>

namespace thunder {

Rewriter::Rewriter(const Trace& trace, const Registry& registry)
    : Recorder(registry, trace.store),
      trace_(trace),
      to_(trace.store->size(), kNoValue),
      producers_(trace.store->size(), nullptr) {
  nodes().reserve(trace.nodes.size());
}

const Node* Rewriter::substituted(const Node* node) {
  if (!replaced_) return node;
  if (node->body.empty()) {
    bool changed = false;
    for_each_value(node->args, [&](ValueId v) { changed |= resolve(v) != v; });
    if (!changed) return node;
  }
  return store().substitute(node, to_);
}

void Rewriter::note(const Node* node) {
  for (ValueId r : node->results) {
    if (r >= producers_.size()) producers_.resize(std::max<size_t>(r + 1, store().size()), nullptr);
    producers_[r] = node;
  }
}

void Rewriter::keep(const Node* node) {
  nodes().push_back(node);
  note(node);
}

bool Rewriter::replace(ValueId old, ValueId with) {
  with = resolve(with);
  if (old == with || !(type(old) == type(with))) return false;
  if (old >= to_.size()) to_.resize(old + 1, kNoValue);
  to_[old] = with;
  replaced_ = true;
  return true;
}

std::optional<Trace> Rewriter::finish() {
  if (!replaced_ && nodes() == trace_.nodes) return std::nullopt;
  Trace out = trace_;
  out.nodes = std::move(nodes());
  for (ValueId& v : out.outputs) v = resolve(v);
  for (Write& w : out.writes) w.value = resolve(w.value);
  return out;
}

}  // namespace thunder
