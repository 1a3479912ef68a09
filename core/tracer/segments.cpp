#include "tracer/segments.h"

#include <algorithm>

#include "base/text.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

thread_local SegmentScope* t_current = nullptr;

// Numbers recorded as constants are compared like other arguments of a line.
struct Ignored : LeafReads {
  void read_as_number(size_t) override {}
};
Ignored ignored;

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
  begin_segment();
}

SegmentScope::~SegmentScope() { t_current = outer_; }

void SegmentScope::begin_segment() {
  auto known = has_place_ ? runner_.scripts_after(after_) : nullptr;
  restart(std::make_unique<SegmentRecorder>(*environment_.registry, *this, std::move(known)));
}

void SegmentScope::begin_op(const char* where) {
  in_op_++;
  if (layer && !lines().builds()) {  // there may be no store for its text
    place_ = place_of(where);
    return lines().set_where(place_.empty() ? nullptr : place_.c_str());
  }
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
  const ValueId v = replay_views(TracingScope::given(it->second.base.get()), it->second.path);
  recorder().memory().hold(v);
  return known_[t] = v;
}

// What handles have in common of their paths is taken once, so that a gradient by one reaches what the others gave.
ValueId SegmentScope::replay_views(ValueId v, const Path& path) {
  for (const Taken& taken : path) {
    if (taken.at.segment == past_.size()) {
      v = taken.at.value;
      continue;
    }
    auto [it, fresh] = again_.try_emplace(taken.at, kNoValue);
    if (fresh) {
      SmallVector<Arg, 8> args;
      for (const Arg& a : taken.line->args) args.push_back(a);
      args[0].v = v;
      it->second = recorder().invoke(def(*taken.line), {args.data(), args.size()})[0];
      taken_[it->second] = taken;
    }
    v = it->second;
  }
  return v;
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
    const Place at = locate(v, held_by_inputs());
    broken_ = true;
    const bool is_there = at.input != SIZE_MAX &&  // what an input holds
                          recorder().memory().latest(inputs()[at.input].value) == inputs()[at.input].value;
    if (is_there && !numbers_.contains(&proxy)) {
      materialize(proxy, at, {}, {});
      known_[&proxy] = v;
    } else if (!numbers_.contains(&proxy)) {
      runner_.broke(described(proxy, where));
      cut(live());
    }
    if (auto it = numbers_.find(&proxy); it != numbers_.end()) {  // which stays a number for ops until it is read
      const ValueId now = given(&proxy);
      proxy.become(*tensor_of(environment_.allocator, it->second));
      known_[&proxy] = now;
    }
  } catch (const Error& e) {
    fail_and_throw(e);
  }
  return true;
}

// Runs the op once on data for the integers that it reads, then records it with them, so that its gradient is known.
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
    lines().build();  // what it read may be something else the next time
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
  for (SegmentScope* s = t_current; s; s = s->outer_) s->run_before_access(t, writes);
}

void SegmentScope::run_before_access(const Tensor& t, bool writes) {
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

}  // namespace thunder
