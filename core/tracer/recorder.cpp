#include "tracer/recorder.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {

Recorder::Recorder(const Registry& registry, std::shared_ptr<Store> store)
    : Builder(registry), store_(std::move(store)) {
  frames_.push_back({{}, 0});
}

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
  frames_.back().nodes.push_back(node);
  recorded(*node);
  return results;
}

void Recorder::enter(const OpDef&) { frames_.push_back({{}, static_cast<ValueId>(store_->size())}); }

void Recorder::abandon() { frames_.pop_back(); }

// A composite whose results are not all its own (it returned an argument, or one value twice) cannot be a line
// that defines them: its decomposition stands in its place.
Results Recorder::leave(const OpDef& op, std::span<const Arg> args, const Results& results) {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  bool own = !frame.nodes.empty();  // nothing split into no parts leaves no line
  for (size_t i = 0; i < results.size(); i++) {
    own &= results[i] >= frame.first;
    own &= std::find(results.begin(), results.begin() + i, results[i]) == results.begin() + i;
  }
  auto& into = frames_.back().nodes;
  if (own && closes(results, frame.first))
    into.push_back(store_->node(&op, args, results, frame.nodes, where_));
  else
    into.insert(into.end(), frame.nodes.begin(), frame.nodes.end());
  return results;
}

}  // namespace thunder
