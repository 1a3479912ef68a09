// Ends a segment: runs what was recorded, and makes concrete tensors, or views of them, of the handles that are kept.
#include <algorithm>

#include "base/text.h"
#include "ops/place_view.h"
#include "tensor/transfer.h"
#include "tracer/segments.h"

namespace thunder {
namespace {

Arg read_number(const Tensor& t) {
  if (t.kind() == Tensor::Kind::number) return t.number_value();
  alignas(8) std::byte element[8] = {};
  read_elements(t, element);
  if (t.type().dtype == DType::boolean) return Arg::boolean(*reinterpret_cast<bool*>(element));
  if (t.type().dtype == DType::i64) return Arg::integer(*reinterpret_cast<int64_t*>(element));
  return Arg::real(*reinterpret_cast<double*>(element));
}

}  // namespace

Ref<Tensor> SegmentScope::input_tensor(size_t input) const {
  if (input < bound_.size() && bound_[input]) return bound_[input];
  return layouts()[input];
}

std::vector<size_t> SegmentScope::held_by_inputs() const {
  std::vector<size_t> held(recorder().values(), SIZE_MAX);
  for (size_t i = inputs().size(); i-- > 0;)
    held[inputs()[i].value] = held[recorder().memory().latest(inputs()[i].value)] = i;
  return held;
}

SegmentScope::Place SegmentScope::locate(ValueId v, const std::vector<size_t>& held) const {
  const Aliases& memory = recorder().memory();
  Place at;
  for (const Node* n = memory.view_of(v); n; n = memory.view_of(n->args[0].v)) {
    const ValueId first = memory.taken_first(n->results[0]);
    const auto again = taken_.find(first);
    at.path.push_back(again == taken_.end() ? Taken{n, {past_.size(), first}} : again->second);
  }
  std::reverse(at.path.begin(), at.path.end());
  const ValueId root = memory.root(v);
  at.now = memory.latest(root);
  at.input = std::min(held[root], held[at.now]);
  return at;
}

// In C everything that the scope made may be used later.
std::vector<Tensor*> SegmentScope::live() const {
  std::vector<Tensor*> handles;
  for (const Ref<Tensor>& t : owned())
    if (t->kind() == Tensor::Kind::proxy && t->owner() == this && !numbers_.count(t.get())) handles.push_back(t.get());
  return handles;
}

void SegmentScope::note_outputs(std::span<Tensor* const> handles, std::vector<Place>& places, Outputs& at,
                                std::vector<ValueId>& outputs) {
  const std::vector<size_t> held = held_by_inputs();
  places.reserve(handles.size());
  at.resize(held.size(), SIZE_MAX);
  for (Tensor* t : handles) {
    places.push_back(locate(given(t), held));
    const Place& p = places.back();
    if (p.input != SIZE_MAX || at[p.now] != SIZE_MAX) continue;
    at[p.now] = outputs.size();
    // Numbers of the host's language keep all their bits.
    const TensorType& type = recorder().type(p.now);
    outputs.push_back(type.weak ? convert(recorder().var(p.now), type.dtype).id : p.now);
  }
}

void SegmentScope::make_view(Tensor& t, Ref<Tensor> base, Path path) {
  Ref<Tensor> at = base;
  for (const Taken& taken : path) {
    const Origin& in = taken.at;
    const TensorType& type =
        in.segment < past_.size() ? past_[in.segment].trace.type(in.value) : recorder().type(in.value);
    at = view_tensor(def(*taken.line), *at, taken.line->args, type);
    ensure(at != nullptr, "a view of a segment lies in no memory");
  }
  t.become(*at);
  if (!path.empty()) views_[&t] = {std::move(base), std::move(path)};
}

void SegmentScope::materialize(Tensor& t, const Place& p, const Outputs& at, std::span<const Ref<Tensor>> made) {
  const Ref<Tensor> base = p.input != SIZE_MAX ? input_tensor(p.input) : made[at[p.now]];
  if (t.type().weak) numbers_[&t] = read_number(*base);
  else make_view(t, base, p.path);
}

void SegmentScope::cut(std::span<Tensor* const> handles) {
  if (const int64_t fresh = draws() - std::exchange(counted_, draws())) {
    const Ref<Tensor> taken = runner_.take_random(fresh);
    if (!state_) state_ = taken;
  }
  std::vector<Place> places;
  Outputs at;
  std::vector<ValueId> outputs;
  note_outputs(handles, places, at, outputs);
  const SegmentScript* const followed = lines().finish();
  Segment segment{recorded(std::move(outputs)), {}, followed, lines().take_script(), after_, has_place_};
  for (size_t i = 0; i < inputs().size(); i++)
    segment.inputs.push_back(input_tensor(i) == context_random_ && state_ ? state_ : input_tensor(i));
  std::vector<uint64_t> before;
  for (const Ref<Tensor>& t : segment.inputs) before.push_back(t->concrete() ? t->storage()->version() : 0);
  std::vector<Ref<Tensor>> made;
  if (!segment.trace.outputs.empty() || !segment.trace.writes.empty()) {
    made = runner_.run(segment);
    after_ = segment.followed, has_place_ = after_ != nullptr;
  }
  for (auto& [view, v] : again_) later_[view].push_back({past_.size(), v});
  for (size_t i = 0; i < handles.size(); i++) materialize(*handles[i], places[i], at, made);
  keep(std::move(segment), std::move(before), std::move(made));
  known_.clear();
  again_.clear();
  taken_.clear();
  bound_.clear();
  begin_segment();
}

void SegmentScope::keep(Segment segment, std::vector<uint64_t> before, std::vector<Ref<Tensor>> made) {
  Past past{std::move(segment.trace), std::move(segment.inputs), std::move(before), {}, std::move(made), {},
            std::move(recorder().memory()), std::move(taken_)};
  for (const Write& w : past.trace.writes) past.written.push_back(past.inputs[w.input]->storage()->version());
  for (const Ref<Tensor>& t : past.outputs) past.made.push_back(t->storage()->version());
  past_.push_back(std::move(past));
}

std::vector<Ref<Tensor>> SegmentScope::materialize_results(std::span<Tensor* const> results) {
  std::vector<Tensor*> left;
  for (Tensor* t : results)
    if (t->kind() == Tensor::Kind::proxy && !numbers_.count(t) &&
        std::find(left.begin(), left.end(), t) == left.end()) {
      if (!t->owner()) thunder::fail(Code::expired, "a result is a proxy of a function that had been traced");
      require(t->owner() == this, "a result is a proxy of another function being traced");
      left.push_back(t);
    }
  cut(left);
  std::vector<Ref<Tensor>> out;
  for (Tensor* t : results) {
    auto number = numbers_.find(t);
    out.push_back(number == numbers_.end() ? Ref<Tensor>(t) : Tensor::number(number->second));
  }
  return out;
}

}  // namespace thunder
