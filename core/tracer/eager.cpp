#include "tracer/eager.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ir/prim.h"
#include "ops/place_view.h"
#include "tensor/transfer.h"
#include "tracer/needed.h"

namespace thunder {

EagerBuilder::EagerBuilder(const ScopeEnvironment& environment, bool taped)
    : Builder(*environment.registry), environment_(environment), frames_(1) {
  if (taped) store_ = std::make_unique<Store>();
}

ValueId EagerBuilder::add(Ref<Tensor> t) {
  slots_.push_back(std::move(t));
  return static_cast<ValueId>(slots_.size() - 1);
}

void EagerBuilder::clear() {
  if (slots_.empty() && !taped()) return;  // nothing was computed since, and nothing is recorded
  slots_.clear();
  frames_.resize(1);
  frames_[0].clear();
  memory_.clear();
  if (store_) store_->clear();
  ops_.clear();
}

void EagerBuilder::record(std::shared_ptr<const OpDef> op, std::span<const Arg> args, const Results& results) {
  if (!recording()) return;
  frames_.back().push_back(store_->node(op.get(), args, results, {}, nullptr));
  ops_.push_back(std::move(op));
}

// Each draw has a state of its own, so that a line of the tape keeps what it drew, whatever is drawn or seeded since.
Draw EagerBuilder::draw() {
  auto* now = reinterpret_cast<int64_t*>(environment_.random->data());
  const Ref<Tensor> state = environment_.empty(environment_.random->type());
  std::copy_n(now, 2, reinterpret_cast<int64_t*>(state->data()));
  now[1] = static_cast<int64_t>(static_cast<uint64_t>(now[1]) + 1);  // wraps around
  return {var(add(state)), 0};
}

int64_t EagerBuilder::read_integer(ValueId v, const OpDef&) {
  int64_t value = 0;
  read_elements(*slots_[v], &value);
  if (integers_) integers_->push_back(value);
  return value;
}

bool EagerBuilder::view(const OpDef& op, std::span<const Arg> args, const Types& types, Results& results) {
  Ref<Tensor> out = view_tensor(op, *slots_[args[0].v], args, types.at[0]);
  if (!out) return false;
  results.push_back(add(std::move(out)));
  return true;
}

Results EagerBuilder::prim(const OpDef& op, std::span<const Arg> args, const Types& types) {
  Results results;
  const bool viewed = op.view && view(op, args, types, results);
  if (!viewed) {
    SmallVector<Buffer, 8> in, out;
    size_t param = 0;
    for (const Arg& a : args) {
      const ParamKind kind = op.schema.params[param++].kind;
      if (a.kind == ArgKind::value) in.push_back(slots_[a.v]->buffer());
      if (a.kind == ArgKind::none && kind == ParamKind::tensor) in.push_back(Buffer{.rank = -1});
      if (a.kind == ArgKind::values)
        for (ValueId v : a.value_list()) in.push_back(slots_[v]->buffer());
    }
    for (size_t i = 0; i < types.count; i++) {
      results.push_back(add(environment_.empty(types.at[i])));
      out.push_back(slots_.back()->buffer());
    }
    if (Status* failed = environment_.runner->run(op, args, in, out)) throw Error(Ref<Status>::adopt(failed));
  }
  if (recording()) {
    frames_.back().push_back(store_->node(&op, args, results, {}, nullptr));
    if (viewed) memory_.add_view(*frames_.back().back());
  }
  return results;
}

// On a device, where its kernels are fewer than those of what it is made of. On a tape its gradient must be its own, or
// one that is hardly asked for: of ops of gradients.
bool EagerBuilder::run_whole(const OpDef& op, std::span<const Arg> args, Results& results) {
  if (!environment_.composites) return false;
  SmallVector<Tensor*, 8> in;
  for (const Arg& a : args) {
    if (a.kind == ArgKind::value) in.push_back(slots_[a.v].get());
    if (a.kind == ArgKind::values)
      for (ValueId v : a.value_list()) in.push_back(slots_[v].get());
  }
  const bool has_gradient = op.vjp || op.has(kHidden);
  if (in.size() == 0 || (recording() && !has_gradient) || may_view(op) || op.has(kRandom) || op.has(kEager))
    return false;
  for (Tensor* t : in)
    if (t->type().device == Device::cpu) return false;
  std::vector<Ref<Tensor>> out;
  if (!environment_.composites->run(op, args, {in.data(), in.size()}, out)) return false;
  for (Ref<Tensor>& t : out) results.push_back(add(std::move(t)));
  if (recording()) frames_.back().push_back(store_->node(&op, args, results, {}, nullptr));
  return true;
}

// The lines are the caller's to read even while the tape is paused.
Results EagerBuilder::decompose(const OpDef& op, std::span<const Arg> args, std::vector<const Node*>& body) {
  frames_.emplace_back();
  const bool paused = std::exchange(paused_, false);
  Results results;
  try {
    Call call(*this, op, args);
    results = op.decompose(call);
  } catch (...) {
    frames_.pop_back();
    paused_ = paused;
    throw;
  }
  body = std::move(frames_.back());
  frames_.pop_back();
  paused_ = paused;
  if (!paused) frames_.back().insert(frames_.back().end(), body.begin(), body.end());
  return results;
}

void EagerBuilder::record_same(ValueId value, ValueId result) {
  const Arg args[] = {Arg::value(value), Arg::of(type(result).dtype)};
  // Of what was there before an op that is being recorded, whose lines nobody outside may name.
  auto& frame = firsts_.empty() || value < firsts_[0] ? frames_[0] : frames_.back();
  frame.push_back(store_->node(&environment_.registry->get(Prim::convert), args, {&result, 1}, {}, nullptr));
}

void EagerBuilder::move_lines(size_t recorded, size_t before) {
  std::vector<const Node*>& tape = frames_[0];
  std::rotate(tape.begin() + before, tape.begin() + recorded, tape.end());
}

void EagerBuilder::enter(const OpDef&) {
  if (!recording()) return;
  frames_.emplace_back();
  firsts_.push_back(static_cast<ValueId>(slots_.size()));
}

Results EagerBuilder::leave(const OpDef& op, std::span<const Arg> args, const Results& results) {
  if (!recording()) return results;
  auto body = std::move(frames_.back());
  frames_.pop_back();
  bool own = true;
  for (size_t i = 0; i < results.size(); i++)
    own &= results[i] >= firsts_.back() &&
           std::find(results.begin(), results.begin() + i, results[i]) == results.begin() + i;
  own = own && memory_.close(results, firsts_.back());
  firsts_.pop_back();
  auto& into = frames_.back();
  if (own)
    into.push_back(store_->node(&op, args, results, body, nullptr));
  else
    into.insert(into.end(), body.begin(), body.end());
  return results;
}

void EagerBuilder::abandon() {
  if (!recording()) return;
  frames_.pop_back();
  firsts_.pop_back();
}

ValueId EagerScope::enter(Tensor* t) {
  if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
  if (t->kind() == Tensor::Kind::proxy) {
    if (!t->owner())
      thunder::fail(Code::expired, "a proxy was used after the function that it belongs to had been traced");
    thunder::fail(
        Code::invalid_argument,
        "a proxy of a function being traced was given to an eager scope; use the scope that the function was given");
  }
  require(t->concrete(), "a plain number where a tensor is needed");
  if (!builder_.taped()) return builder_.add(Ref<Tensor>(t));
  auto [it, fresh] = known_.try_emplace(t, kNoValue);
  if (!fresh) {
    require(it->second != kNoValue,
            "this view was taken outside of the tape, and the memory under it was written in place since; take the "
            "view again");
    return builder_.memory().resolve(builder_, it->second);
  }
  kept_.emplace_back(t);
  // The tape's own handle, so that a later write can put the old data under it.
  Ref<Tensor> own = Tensor::view(t->storage(), t->type(), t->strides(), t->offset());
  if (t->read_only()) own->set_read_only();
  it->second = builder_.add(std::move(own));
  builder_.memory().hold(it->second);
  return it->second;
}

Tensor* EagerScope::wrap(ValueId v) {
  Tensor* t = own(builder_.tensor(v));
  if (!builder_.taped()) return t;
  builder_.memory().hold(v);
  if (known_.try_emplace(t, v).second) kept_.emplace_back(t);
  return t;
}

Ref<Tensor> EagerScope::dense_copy(const Tensor& t) const { return thunder::dense_copy(environment_.allocator, t); }

void EagerScope::end_op() {
  if (!builder_.taped()) builder_.clear();
}

void EagerScope::reset() {
  builder_.clear();
  known_.clear();
  kept_.clear();
  taken_.clear();
  before_.clear();
  undo_.clear();
  Scope::reset();
}

std::vector<bool> EagerScope::reached(Tensor* loss, std::span<Tensor* const> tensors) {
  std::vector<bool> out(tensors.size());
  if (!builder_.taped()) return out;
  const ValueId last = enter(loss);
  record_gradients_behind(last);
  ValueSet needed(builder_.size());
  add_needed(builder_.tape(), last, needed);
  for (size_t i = 0; i < tensors.size(); i++) {
    const auto it = known_.find(tensors[i]);
    out[i] = it != known_.end() && it->second != kNoValue && needed.has(it->second);
  }
  return out;
}

}  // namespace thunder
