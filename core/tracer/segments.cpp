#include "tracer/segments.h"

#include <algorithm>

#include "base/text.h"
#include "ops/place_view.h"
#include "tensor/transfer.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

thread_local SegmentScope* t_current = nullptr;

// A number that is recorded with its value is compared like any other argument of a line.
struct Ignored : LeafReads {
  void read_as_number(size_t) override {}
};
Ignored ignored;

Arg number_of(const Tensor& t) {
  if (t.kind() == Tensor::Kind::number) return t.number_value();
  alignas(8) std::byte element[8] = {};
  read_elements(t, element);
  if (t.type().dtype == DType::boolean) return Arg::boolean(*reinterpret_cast<bool*>(element));
  if (t.type().dtype == DType::i64) return Arg::integer(*reinterpret_cast<int64_t*>(element));
  return Arg::real(*reinterpret_cast<double*>(element));
}

Ref<Tensor> tensor_of(const Allocator& allocator, const Arg& number) {
  TensorType type;
  type.dtype = number.kind == ArgKind::boolean   ? DType::boolean
               : number.kind == ArgKind::integer ? DType::i64
                                                 : DType::f64;
  auto t = Tensor::empty(allocator, type);
  if (number.kind == ArgKind::boolean) *reinterpret_cast<bool*>(t->data()) = number.i != 0;
  else if (number.kind == ArgKind::integer) *reinterpret_cast<int64_t*>(t->data()) = number.i;
  else *reinterpret_cast<double*>(t->data()) = number.f;
  return t;
}

}  // namespace

SegmentScope::SegmentScope(ScopeEnvironment environment, std::string function, SegmentRunner& runner, bool broken)
    : TracingScope(std::move(environment), std::move(function)),
      runner_(runner),
      outer_(t_current),
      context_random_(environment_.random),
      broken_(broken) {
  t_current = this;
}

SegmentScope::~SegmentScope() { t_current = outer_; }

void SegmentScope::begin_op(const char* where) {
  in_op_++;
  TracingScope::begin_op(where);
}

ValueId SegmentScope::number_input(const Arg& number) {
  TensorType type;
  type.dtype = number.kind == ArgKind::boolean   ? DType::boolean
               : number.kind == ArgKind::integer ? DType::i64
                                                 : DType::f64;
  type.weak = true;
  const size_t index = inputs().size();
  const ValueId v = add_input(type, Source::argument, "", nullptr);
  if (number.kind == ArgKind::real) keep_live(v, number.f, 0, ignored);
  bound_.resize(index + 1);
  bound_[index] = Tensor::number(number);
  return v;
}

void SegmentScope::take_live_numbers(const OpDef& op, std::span<Arg> args, const char* const* names) {
  if (!broken_) return;
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind != ArgKind::real && args[i].kind != ArgKind::integer) continue;
    const Param* p = parameter_of(op, names, i);
    if (!p || p->kind != ParamKind::tensor || !p->number) continue;
    if (runner_.varies(recorder().where(), op, static_cast<size_t>(p - op.schema.params.data())))
      args[i] = Arg::value(number_input(args[i]));
  }
}

ValueId SegmentScope::given(Tensor* t) {
  if (auto it = known_.find(t); it != known_.end()) return it->second;
  if (auto it = numbers_.find(t); it != numbers_.end()) return known_[t] = number_input(it->second);
  auto it = views_.find(t);
  if (it == views_.end()) return TracingScope::given(t);
  ValueId v = TracingScope::given(it->second.base.get());
  for (const Node* n : it->second.path) {
    SmallVector<Arg, 8> args;
    for (const Arg& a : n->args) args.push_back(a);
    args[0].v = v;
    v = recorder().invoke(def(*n), {args.data(), args.size()})[0];
  }
  recorder().memory().hold(v);
  return known_[t] = v;
}

void SegmentScope::require_readable(const Tensor& t) const {
  const auto refuse = [&](std::string_view why) {
    thunder::fail(Code::proxy_has_no_data, "a proxy (", name(t.type()), ") cannot be read here: ", why);
  };
  if (!on_owner_thread()) refuse("its function runs on another thread");
  if (traced_inside) refuse("a transform or a checkpoint traces its function as one");
  if (in_op_) refuse("an op is being recorded");
}

void SegmentScope::fail_and_throw(const Error& e) {
  fail_at(e, "", nullptr);
  throw Error(status());
}

bool SegmentScope::give_data(Tensor& proxy, const char* where) {
  if (status()) throw Error(status());
  require_readable(proxy);
  try {
    const ValueId v = given(&proxy);
    const Place at = place(v, held_by_inputs());
    broken_ = true;
    if (auto it = numbers_.find(&proxy); it != numbers_.end()) {
      proxy.become(*tensor_of(environment_.allocator, it->second));
      known_[&proxy] = v;
    } else if (at.input != SIZE_MAX &&
               recorder().memory().latest(inputs()[at.input].value) == inputs()[at.input].value) {
      // What an input holds is there already.
      settle(proxy, at, {}, {});
      known_[&proxy] = v;
    } else {
      runner_.broke(described(proxy, where));
      cut(live());
    }
  } catch (const Error& e) {
    fail_and_throw(e);
  }
  return true;
}

// The op runs once on data, for what it reads alone; then it is recorded with that, so that its gradient is known.
bool SegmentScope::learn_integers(std::string_view name, std::span<const Any> args, const char* const* names,
                                  const char* where) {
  if (learning_) return false;
  try {
    const auto need = [&](Tensor* t) {
      if (t && t->kind() == Tensor::Kind::proxy && t->owner() == this) give_data(*t, where);
    };
    for (const Any& a : args) {
      if (a.kind == ArgKind::value) need(a.t);
      for (uint32_t i = 0; a.kind == ArgKind::values && i < a.count; i++) need(a.ts[i]);
    }
    const bool in_place = !environment_.registry->find(name) && name.ends_with('_');
    std::vector<int64_t> integers;
    EagerScope on_data(environment_, false);
    on_data.builder().note_integers(&integers);
    on_data.invoke_all(in_place ? name.substr(0, name.size() - 1) : name, args, names, where);
    if (on_data.status()) throw Error(on_data.status());
    recorder().set_integers(std::move(integers));
    learning_ = true;
    return true;
  } catch (const Error& e) {
    if (!status()) fail_at(e, name, where);
    return false;
  }
}

void SegmentScope::end_op() {
  in_op_--;
  learning_ = false;
  recorder().set_integers({});
}

void SegmentScope::before_access(const Tensor& t, bool writes) {
  for (SegmentScope* s = t_current; s; s = s->outer_) s->catch_up(t, writes);
}

void SegmentScope::catch_up(const Tensor& t, bool writes) {
  if (recorder().nodes().empty() || !on_owner_thread() || status()) return;
  bool in_use = false;
  for (size_t i = 0; i < inputs().size() && !in_use; i++) {
    const Ref<Tensor> bound = input_tensor(i);
    if (!bound->concrete() || bound->storage() != t.storage()) continue;
    in_use = writes || recorder().memory().latest(inputs()[i].value) != inputs()[i].value;
  }
  if (!in_use) return;
  require_readable(t);
  try {
    broken_ = true;
    runner_.broke(
        {"", cat("a tensor, ", name(t.type()), ", that recorded lines ", writes ? "use was written" : "write was read"),
         recorder().nodes().size()});
    cut(live());
  } catch (const Error& e) {
    fail_and_throw(e);
  }
}

GraphBreak SegmentScope::described(const Tensor& t, const char* where) {
  GraphBreak at{where ? where : "", cat("a value, ", name(t.type()), ", was read"), recorder().nodes().size()};
  const ValueId now = recorder().memory().latest(recorder().memory().root(t.value()));
  for (const Node* n : recorder().nodes())
    for (ValueId r : n->results) {
      if (r != t.value() && r != now) continue;
      at.reason = cat("the value of ", n->op->name(), ", ", name(t.type()), ", was read");
      if (!where && n->where) at.where = n->where;
    }
  return at;
}

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

SegmentScope::Place SegmentScope::place(ValueId v, const std::vector<size_t>& held) const {
  const Aliases& memory = recorder().memory();
  Place at;
  for (const Node* n = memory.view_of(v); n; n = memory.view_of(n->args[0].v)) at.path.push_back(n);
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
  for (Tensor* t : handles) {
    places.push_back(place(given(t), held));
    const Place& p = places.back();
    if (p.input != SIZE_MAX || !at.try_emplace(p.now, outputs.size()).second) continue;
    // A number of the host's keeps all its bits.
    const TensorType& type = recorder().type(p.now);
    outputs.push_back(type.weak ? convert(recorder().var(p.now), type.dtype).id : p.now);
  }
}

void SegmentScope::look_at(Tensor& t, Ref<Tensor> base, std::vector<const Node*> path) {
  Ref<Tensor> at = base;
  for (const Node* n : path) {
    at = view_tensor(def(*n), *at, n->args, recorder().type(n->results[0]));
    ensure(at != nullptr, "a view of a segment lies in no memory");
  }
  const ValueId given = t.value();
  t.become(*at);
  if (!path.empty()) views_[&t] = {std::move(base), std::move(path), {{past_.size(), given}}};
}

void SegmentScope::settle(Tensor& t, const Place& p, const Outputs& at, std::span<const Ref<Tensor>> made) {
  const Ref<Tensor> base = p.input != SIZE_MAX ? input_tensor(p.input) : made[at.at(p.now)];
  if (t.type().weak) numbers_[&t] = number_of(*base);
  else look_at(t, base, p.path);
}

void SegmentScope::cut(std::span<Tensor* const> handles) {
  if (drew() && !state_) state_ = runner_.take_random();
  std::vector<Place> places;
  Outputs at;
  std::vector<ValueId> outputs;
  note_outputs(handles, places, at, outputs);
  Segment segment{recorded(std::move(outputs)), {}};
  for (size_t i = 0; i < inputs().size(); i++)
    segment.inputs.push_back(input_tensor(i) == context_random_ && state_ ? state_ : input_tensor(i));
  std::vector<uint64_t> before;
  for (const Ref<Tensor>& t : segment.inputs) before.push_back(t->concrete() ? t->storage()->version() : 0);
  std::vector<Ref<Tensor>> made;
  if (!segment.trace.outputs.empty() || !segment.trace.writes.empty()) made = runner_.run(segment);
  for (auto& [t, v] : known_)
    if (const auto view = views_.find(t); view != views_.end()) view->second.given.emplace_back(past_.size(), v);
  for (size_t i = 0; i < handles.size(); i++) settle(*handles[i], places[i], at, made);
  keep(std::move(segment), std::move(before), std::move(made));
  known_.clear();
  bound_.clear();
  restart();
}

void SegmentScope::keep(Segment segment, std::vector<uint64_t> before, std::vector<Ref<Tensor>> made) {
  Past past{std::move(segment.trace), std::move(segment.inputs), std::move(before), {}, std::move(made), {}};
  for (const Write& w : past.trace.writes) past.written.push_back(past.inputs[w.input]->storage()->version());
  for (const Ref<Tensor>& t : past.outputs) past.made.push_back(t->storage()->version());
  past_.push_back(std::move(past));
}

std::vector<Ref<Tensor>> SegmentScope::settle(std::span<Tensor* const> results) {
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
