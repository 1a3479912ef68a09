#include "tracer/recorder.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {

Recorder::Recorder(const Registry& registry, std::shared_ptr<Store> store)
    : Builder(registry), store_(std::move(store)) {}

Draw Recorder::draw() { fail(Code::internal, "internal error, please report it: a pass tried to draw random numbers"); }

int64_t Recorder::read_integer(ValueId, const OpDef& op) {
  if (next_integer_ < integers_.size()) return integers_[next_integer_++];
  throw UnknownInteger(Code::unimplemented, cat(op.name(),
       ": the shape of its result depends on values, which are not known while a function is recorded: call it outside "
       "of the compiled or transformed function, or use an op that keeps the shape, such as where(mask, x, 0), or that "
       "is told the size, such as nonzero_static(x, size)"));
}

Results Recorder::prim(const OpDef& op, std::span<const Arg> args, const Types& types) {
  Results results;
  for (size_t i = 0; i < types.count; i++) results.push_back(store_->add(types.at[i]));
  const Node* node = store_->node(&op, args, results, {}, where_);
  nodes_.push_back(node);
  recorded(*node);
  return results;
}

void Recorder::enter(const OpDef&) { frames_.push_back({nodes_.size(), static_cast<ValueId>(store_->size())}); }

void Recorder::abandon() {
  nodes_.resize(frames_.back().begin);
  frames_.pop_back();
}

// A composite that returned an argument, or one value twice, cannot be a line that defines its results: its
// decomposition replaces it.
Results Recorder::leave(const OpDef& op, std::span<const Arg> args, const Results& results) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  const auto body = std::span(nodes_).subspan(frame.begin);
  bool own = !body.empty();  // nothing split into no parts leaves no line
  for (size_t i = 0; i < results.size(); i++) {
    own &= results[i] >= frame.first;
    own &= std::find(results.begin(), results.begin() + i, results[i]) == results.begin() + i;
  }
  if (!own || !closes(results, frame.first)) return results;
  const Node* whole = store_->node(&op, args, results, body, where_);
  nodes_.resize(frame.begin);
  nodes_.push_back(whole);
  return results;
}

}  // namespace thunder
