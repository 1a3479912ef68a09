#include "tracer/segment_recorder.h"

#include <algorithm>
#include <cstring>

namespace thunder {
namespace {

bool same_text(const char* a, const char* b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

bool same_args(std::span<const Arg> a, std::span<const Arg> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& x, auto& y) { return same(x, y); });
}

bool same_event(const SegmentScript& a, const SegmentScript& b, size_t at) {
  const SegmentScript::Event &x = a.events[at], &y = b.events[at];
  if (x.values != y.values || x.nodes != y.nodes || x.views != y.views || !x.call != !y.call) return false;
  if (!x.call)
    return x.input == y.input && a.layouts[x.layout] == b.layouts[y.layout] &&
           a.store->type(x.input) == b.store->type(y.input);
  return x.call == y.call || (x.call->op == y.call->op && same_args(x.call->args, y.call->args) &&
                              same_text(x.call->where, y.call->where));
}

}  // namespace

bool same_script(const SegmentScript& a, const SegmentScript& b) {
  bool same = a.events.size() == b.events.size();
  for (size_t i = 0; i < a.events.size() && same; i++) same = same_event(a, b, i);
  return same;
}

bool SegmentRecorder::is_call(const Event& e, const Op& op, std::span<const Arg> args) const {
  return e.call && e.call->op == &op && same_text(e.call->where, where()) && same_args(e.call->args, args);
}

// Whether what was followed so far is how this one begins.
bool SegmentRecorder::extends_prefix_of(const SegmentScript& script) const {
  for (size_t i = 0; i < next_; i++)
    if (!same_event(script, *follows_, i)) return false;
  return true;
}

// Equal events leave equal lines, whose values have equal numbers.
void SegmentRecorder::switch_to(const SegmentScript& script) {
  follows_ = &script;
  use_store(script.store);
  nodes().reserve(script.nodes.size());
  std::copy_n(script.nodes.begin(), nodes().size(), nodes().begin());
}

void SegmentRecorder::advance_over(const Event& event) {
  const std::vector<const Node*>& lines = follows_->nodes;
  nodes().insert(nodes().end(), lines.begin() + static_cast<ptrdiff_t>(nodes().size()),
                 lines.begin() + static_cast<ptrdiff_t>(event.nodes));
  for (size_t i = next_ ? follows_->events[next_ - 1].views : 0; i < event.views; i++) {
    const auto& [view, strides] = follows_->views[i];
    memory().add_view(*view);
    set_strides(view->results[0], strides);
  }
  values_ = event.values;
  next_++;
}

// The next event, if a script that begins with what was recorded so far has one that matches. Null: from here on nodes
// are built.
template <class Matches>
const SegmentScript::Event* SegmentRecorder::follow(const Matches& matches) {
  if (builds_) return nullptr;
  const auto fits = [&](const SegmentScript& s) { return next_ < s.events.size() && matches(s, s.events[next_]); };
  if (!follows_ || !fits(*follows_)) {
    const SegmentScript* other = nullptr;
    for (size_t i = 0; known_ && i < known_->size() && !other; i++)
      if ((*known_)[i] != follows_ && fits(*(*known_)[i]) && extends_prefix_of(*(*known_)[i])) other = (*known_)[i];
    if (!other) return start_building(), nullptr;
    switch_to(*other);
  }
  const Event& event = follows_->events[next_];
  advance_over(event);
  return &event;
}

void SegmentRecorder::start_building() {
  if (builds_) return;
  builds_ = true;
  script_ = std::make_unique<SegmentScript>();
  if (!follows_) use_store(std::make_shared<Store>());
  else copy_what_was_followed();
  if (where()) set_where(store().text(where()));
}

void SegmentRecorder::copy_what_was_followed() {
  const auto begun = follows_->events.begin() + static_cast<ptrdiff_t>(next_);
  script_->events.assign(follows_->events.begin(), begun);
  script_->layouts = follows_->layouts;
  const size_t views = next_ ? begun[-1].views : 0;
  script_->views.assign(follows_->views.begin(), follows_->views.begin() + static_cast<ptrdiff_t>(views));
  use_store(Store::make_continuation(follows_->store, values_));
}

void SegmentRecorder::build() {
  start_building();
  script_ = nullptr;
}

Draw SegmentRecorder::draw() {
  script_ = nullptr;  // what is drawn depends on what was drawn before
  return TracingRecorder::draw();
}

void SegmentRecorder::note(Event event, size_t values_before) {
  if (!script_) return;
  for (auto v = static_cast<ValueId>(values_before); v < values(); v++)
    if (const Node* view = memory().view_of(v)) script_->views.emplace_back(view, strides(v));
  event.values = values(), event.nodes = nodes().size(), event.views = script_->views.size();
  script_->events.push_back(event);
}

const Node* SegmentRecorder::node_of_call(const OpDef& op, std::span<const Arg> args, std::span<const ValueId> results,
                                          size_t nodes_before) {
  const Node* last = nodes().empty() ? nullptr : nodes().back();
  const bool one_line = nodes().size() == nodes_before + 1 && last->op == &op && same_args(last->args, args);
  return one_line ? last : store().node(&op, args, results, {}, where());
}

Results SegmentRecorder::invoke(const OpDef& op, std::span<const Arg> args) {
  if (depth_ > 0) return TracingRecorder::invoke(op, args);
  const auto matches = [&](const SegmentScript&, const Event& e) { return is_call(e, op, args); };
  if (const Event* known = follow(matches)) {
    Results results;
    for (ValueId v : known->call->results) results.push_back(v);
    return results;
  }
  struct Inside {
    int& depth;
    explicit Inside(int& d) : depth(d) { depth++; }
    ~Inside() { depth--; }
  };
  const size_t values_before = values(), nodes_before = nodes().size();
  Results results;
  {
    const Inside inside(depth_);
    results = TracingRecorder::invoke(op, args);
  }
  if (!script_) return results;
  Event event;
  event.call = node_of_call(op, args, {results.data(), results.size()}, nodes_before);
  note(event, values_before);
  return results;
}

ValueId SegmentRecorder::add_input(const TensorType& type, const Tensor* layout) {
  const auto matches = [&](const SegmentScript& s, const Event& e) {
    return !e.call && !e.layout == !layout && s.store->type(e.input) == type &&
           (!layout || s.layouts[e.layout] == layout->strides());
  };
  if (const Event* known = follow(matches)) {
    if (layout && !layout->contiguous()) set_strides(known->input, layout->strides());
    return known->input;
  }
  const size_t values_before = values();
  Event event;
  event.input = TracingRecorder::add_input(type, layout);
  if (script_ && layout) event.layout = script_->layouts.size(), script_->layouts.push_back(layout->strides());
  note(event, values_before);
  return event.input;
}

std::vector<ValueId> SegmentRecorder::add_gradient(std::span<const Arg> args, std::span<const ValueId> wrt) {
  const OpDef& grad = registry().get("grad");
  const auto matches = [&](const SegmentScript&, const Event& e) { return is_call(e, grad, args); };
  if (const Event* known = follow(matches)) return {known->call->results.begin(), known->call->results.end()};
  const size_t values_before = values();
  std::vector<ValueId> results = TracingRecorder::add_gradient(args, wrt);
  Event event;
  event.call = nodes().back();
  note(event, values_before);
  return results;
}

const SegmentScript* SegmentRecorder::finish() {
  if (builds_) return nullptr;
  const auto ends_here = [&](const SegmentScript& s) { return s.events.size() == next_; };
  if (follows_ && ends_here(*follows_)) return follows_;
  for (size_t i = 0; follows_ && known_ && i < known_->size(); i++)
    if (const SegmentScript& s = *(*known_)[i]; ends_here(s) && extends_prefix_of(s)) return switch_to(s), follows_;
  start_building();
  return nullptr;
}

std::unique_ptr<SegmentScript> SegmentRecorder::take_script() {
  if (!script_ || script_->events.empty()) return nullptr;
  script_->nodes = nodes();
  script_->store = shared_store();
  return std::move(script_);
}

}  // namespace thunder
