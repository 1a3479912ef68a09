// The state of passes that rewrite a trace in one traversal: the new nodes, and which values are replaced by which.
#pragma once

#include "passes/pass.h"
#include "tracer/recorder.h"

namespace thunder {

class Rewriter : public Recorder {
 public:
  Rewriter(const Trace& trace, const Registry& registry);

  // The node with all replaced values substituted, also in its decomposition. The same node if nothing changes.
  const Node* substituted(const Node* node);
  // Appends a node. Requires: it comes from substituted().
  void keep(const Node* node);
  // Calls build(), notes the nodes that it records, with the source line of `node`, and returns its result.
  template <class F>
  auto build_for(const Node& node, F&& build) {
    const size_t before = nodes().size();
    set_where(node.where);
    auto made = build();
    for (size_t i = before; i < nodes().size(); i++) note(nodes()[i]);
    return made;
  }
  Results record(const OpDef& op, std::span<const Arg> args, const Node& node) {
    return build_for(node, [&] { return invoke(op, args); });
  }
  Results record(Prim op, std::span<const Arg> args, const Node& node) {
    return record(registry().get(op), args, node);
  }
  // From here on replaces `old` by `with`. False: their types differ, and nothing is replaced. Requires: `with` is an
  // input or the result of a node that was kept or recorded.
  bool replace(ValueId old, ValueId with);
  // The node that computes a value. Null: the value is an input. Requires: the node was kept or recorded.
  const Node* producer(ValueId v) const { return v < producers_.size() ? producers_[v] : nullptr; }

  // The rewritten trace. Empty: every node was kept unchanged.
  std::optional<Trace> finish();

 private:
  ValueId resolve(ValueId v) const { return v < to_.size() && to_[v] != kNoValue ? to_[v] : v; }
  void note(const Node* node);

  const Trace& trace_;
  std::vector<ValueId> to_;  // by value: the value that replaces it, or kNoValue
  std::vector<const Node*> producers_;
  bool replaced_ = false;
};

}  // namespace thunder
