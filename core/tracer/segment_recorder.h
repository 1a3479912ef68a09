// A recorder that compares: a function that runs again mostly records the same operations, and then no nodes are
// built.
#pragma once

#include "tracer/tracing.h"

namespace thunder {

// What one segment recorded, in order: inputs, and ops at the outermost level. It is immutable once other recorders may
// compare with it, on any thread; its store gets no more nodes, and it has no symbolic sizes.
struct SegmentScript {
  struct Event {
    const Node* call = nullptr;  // the op as it was called, whatever lines it left; null: an input was added
    ValueId input = kNoValue;    // whose value this is
    size_t layout = 0;           // and whose strides these are; 0: none were given
    // How many there are after it.
    size_t values = 0, nodes = 0, views = 0;
  };
  std::vector<Event> events;
  std::vector<Sizes> layouts = {{}};
  std::vector<const Node*> nodes;
  // Lines whose results lie in other memory, and how, as that was after the op that made them.
  std::vector<std::pair<const Node*, Sizes>> views;
  std::shared_ptr<Store> store;
};
using SegmentScripts = std::vector<const SegmentScript*>;
// Whether a recorder that repeats one script also repeats the other.
bool same_script(const SegmentScript& a, const SegmentScript& b);

class SegmentRecorder final : public TracingRecorder {
 public:
  // `known` (may be null): what was recorded in this place before; the scripts live as long.
  SegmentRecorder(const Registry& registry, TracingScope& scope, std::shared_ptr<const SegmentScripts> known)
      : TracingRecorder(registry, nullptr, scope), known_(std::move(known)) {}

  Results invoke(const OpDef& op, std::span<const Arg> args) override;
  ValueId add_input(const TensorType& type, const Tensor* layout) override;
  std::vector<ValueId> add_gradient(std::span<const Arg> args, std::span<const ValueId> wrt) override;
  Draw draw() override;
  // Nodes are built from here on, which later calls cannot repeat.
  void build() override;
  size_t values() const override { return builds_ ? TracingRecorder::values() : values_; }

  // Whether lines are built: the store is then this recorder's own.
  bool builds() const { return builds_; }
  // Ends recording. The script that was repeated from its first event to its last; null: nodes were built.
  const SegmentScript* finish();
  // The script of the recorded lines. Null: later calls cannot repeat them, or they repeated a script themselves.
  std::unique_ptr<SegmentScript> take_script();

 private:
  using Event = SegmentScript::Event;
  template <class Matches>
  const Event* follow(const Matches& matches);
  bool extends_prefix_of(const SegmentScript& script) const;
  void switch_to(const SegmentScript& script);
  void advance_over(const Event& event);
  void start_building();
  void copy_what_was_followed();
  void note(Event event, size_t values_before);
  const Node* node_of_call(const OpDef& op, std::span<const Arg> args, std::span<const ValueId> results,
                           size_t nodes_before);
  bool is_call(const Event& e, const Op& op, std::span<const Arg> args) const;

  const std::shared_ptr<const SegmentScripts> known_;
  const SegmentScript* follows_ = nullptr;
  size_t next_ = 0, values_ = 0;            // while no lines are built: the event that comes, and values so far
  bool builds_ = false;
  std::unique_ptr<SegmentScript> script_;  // while nodes are built; null: later calls cannot repeat them
  int depth_ = 0;                          // of ops that are being built
};

}  // namespace thunder
