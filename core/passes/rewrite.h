// What passes that go through a trace once, from the front, share: which value now stands for which, and the new lines.
#pragma once

#include "passes/pass.h"
#include "tracer/recorder.h"

namespace thunder {

class Rewriter : public Recorder {
 public:
  Rewriter(const Trace& trace, const Registry& registry);

  // The line with every replaced value substituted, inside its decomposition too; itself when nothing changes.
  const Node* substituted(const Node* node);
  // Appends a line. Requires: substituted.
  void keep(const Node* node);
  // Notes every line that `build` records at the end, under the source line of `node`; gives what it gives.
  template <class F>
  auto built(const Node& node, F&& build) {
    const size_t before = nodes().size();
    set_where(node.where);
    auto made = build();
    for (size_t i = before; i < nodes().size(); i++) note(nodes()[i]);
    return made;
  }
  Results record(const OpDef& op, std::span<const Arg> args, const Node& node) {
    return built(node, [&] { return invoke(op, args); });
  }
  // From here on `with` stands for `old`. False, and nothing happens, when their types differ.
  // Requires: `with` is an input or the result of a line that was kept or recorded.
  bool replace(ValueId old, ValueId with);
  // The line that makes a value, or null for inputs. Requires: it was kept or recorded.
  const Node* producer(ValueId v) const { return v < producers_.size() ? producers_[v] : nullptr; }

  // The rewritten trace; empty when every line was kept as it was.
  std::optional<Trace> finish();

 private:
  ValueId resolve(ValueId v) const { return v < to_.size() && to_[v] != kNoValue ? to_[v] : v; }
  void note(const Node* node);

  const Trace& trace_;
  std::vector<ValueId> to_;  // by value: what stands for it, or kNoValue
  std::vector<const Node*> producers_;
  bool replaced_ = false;
};

}  // namespace thunder
