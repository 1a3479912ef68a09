#include "tracer/scope.h"

#include "base/text.h"
#include "tracer/recorder.h"
#include "tracer/result_memory.h"

namespace thunder {

void Scope::fail(Ref<Status> status) {
  if (!error_) error_ = std::move(status);
}

std::string Scope::place_of(const char* where) const {
  std::string place = where ? where : layer && layer->where ? layer->where : "";
  if (const std::string path = layer ? layer->path() : ""; !path.empty())
    place += cat(place.empty() ? "" : ", ", "layer ", path);
  return place;
}

void Scope::fail_at(const Error& thrown, std::string_view name, const char* where) {
  std::string_view says = thrown.message();
  // A poisoned argument brings its own message, with its own place; an exception of the caller's stays what it is.
  if (says.find(" [at ") != says.npos || thrown.status()->has_foreign()) return fail(thrown.status());
  std::string text;
  if (!thrown.status()->names_callers() && !says.starts_with(name)) {
    text = cat(name, ": ");
    // The location inside of the op is removed from the message: the caller did not write that line.
    if (const size_t end = says.find(": "); end != says.npos && says.starts_with("prims.")) says.remove_prefix(end + 2);
  }
  text += says;
  if (const std::string place = place_of(where); !place.empty()) text += cat(" [at ", place, "]");
  if (thrown.message() == text) return fail(thrown.status());
  auto said = make<Status>(thrown.code(), std::move(text));
  if (thrown.status()->names_callers()) said->set_names_callers();
  fail(std::move(said));
}

Tensor* Scope::failed_tensor() {
  // One failed tensor is returned for everything after the first error.
  Ref<Status> why = error_ ? error_ : make<Status>(Code::internal, "failed");
  if (!tensors_.empty() && tensors_.back()->kind() == Tensor::Kind::failed) return tensors_.back().get();
  return own(Tensor::failed(why));
}

Tensor* Scope::own(Ref<Tensor> t) {
  tensors_.push_back(std::move(t));
  return tensors_.back().get();
}

Values* Scope::own(Ref<Values> v) {
  v->lent = true;
  values_.push_back(std::move(v));
  return values_.back().get();
}

Scope::~Scope() { drop(); }

// Whoever retained some of the values now owns them.
void Scope::forget_values() {
  for (auto& v : values_) v->lent = false;
  values_.clear();
}

void Scope::drop() {
  forget_values();
  tensors_.clear();
}

void Scope::reset() {
  for (auto& t : tensors_)
    if (t->kind() == Tensor::Kind::proxy) t->expire();
  drop();
  error_ = nullptr;
}

namespace {

// In a traced function sizes may be words, which represent symbols.
Dim dim_of(Scope& scope, int64_t given) {
  if (given >= TracingScope::kWordsEnd) return given;
  auto* tracing = dynamic_cast<TracingScope*>(&scope);
  return tracing ? tracing->dim_of(given) : Dim(given);
}

}  // namespace

Arg Scope::argument(const Any& a) {
  switch (a.kind) {
    case ArgKind::value:
      if (a.t->kind() == Tensor::Kind::failed) throw Error(a.t->failure());
      if (a.t->kind() == Tensor::Kind::number) return a.t->number_value();
      return Arg::value(enter(a.t));
    case ArgKind::values: {
      const size_t first = ids_.size();
      for (uint32_t i = 0; i < a.count; i++) {
        require(a.ts[i] != nullptr, "element ", i, " of a list of tensors is NULL");
        Arg element = argument(Any::tensor(a.ts[i]));
        require(element.kind == ArgKind::value, "element ", i, " of a list of tensors is a plain number");
        ids_.push_back(element.v);
      }
      return Arg::values({ids_.data() + first, a.count});
    }
    case ArgKind::dims: {
      const size_t first = dims_.size();
      for (uint32_t i = 0; i < a.count; i++) dims_.push_back(dim_of(*this, a.d[i]));
      return Arg::dims({dims_.data() + first, a.count});
    }
    case ArgKind::integer: {
      auto* tracing = a.i < TracingScope::kWordsEnd ? dynamic_cast<TracingScope*>(this) : nullptr;
      return tracing ? Arg::integer(tracing->integer_of(a.i)) : Arg::integer(a.i);
    }
    case ArgKind::string: return Arg::string({a.s, a.count});
    case ArgKind::reals: return Arg::reals({a.fs, a.count});
    default: return Arg::of(a.kind, a.i);
  }
}

// The parameter for the i-th argument, or null.
const Param* Scope::parameter_of(const OpDef& op, const char* const* names, size_t i) {
  const auto& params = op.schema.params;
  const int at = names && names[i] ? op.schema.find(names[i]) : static_cast<int>(i);
  return at < 0 || static_cast<size_t>(at) >= params.size() ? nullptr : &params[static_cast<size_t>(at)];
}

// A live float given for a plain number is read as its value, which is then guarded.
void Scope::read_live_numbers(const OpDef& op, const char* const* names) {
  for (size_t i = 0; i < args_.size(); i++) {
    if (args_[i].kind != ArgKind::value || !builder().type(args_[i].v).weak) continue;
    const Param* p = parameter_of(op, names, i);
    if (!p || p->kind != ParamKind::real) continue;
    if (const Arg number = as_number(args_[i].v); number.present()) args_[i] = number;
  }
}

// A number that is a tensor's handle is one where nothing else will do: 0-d, of its default dtype, as a live one
// becomes.
void Scope::make_tensors_of_numbers(const OpDef& op, std::span<const Any> given, const char* const* names) {
  for (size_t i = 0; i < given.size(); i++) {
    if (given[i].kind != ArgKind::value || args_[i].kind == ArgKind::value) continue;
    const Param* p = parameter_of(op, names, i);
    if (p && p->kind == ParamKind::tensor && !p->number) args_[i] = Arg::value(number_tensor(builder(), args_[i]).id);
  }
}

Results Scope::dispatch(std::string_view name, std::span<const Any> given, const char* const* names, Tensor*& itself) {
  const Registry& registry = *environment_.registry;
  const OpDef* op = registry.find(name);
  if (!op && name.size() > 1 && name.back() == '_') {
    op = registry.find(name.substr(0, name.size() - 1));
    if (op && op->has(kInplace)) {
      require(!given.empty() && given[0].kind == ArgKind::value, name,
              ": the first argument must be the tensor to write");
      itself = given[0].t;
    } else {
      op = nullptr;
    }
  }
  if (!op) op = &registry.get(name);
  // Converted lists must not move while they are pointed to.
  size_t n_dims = 0, n_ids = 0;
  for (const Any& a : given) {
    if (a.kind == ArgKind::dims) n_dims += a.count;
    if (a.kind == ArgKind::values) n_ids += a.count;
  }
  dims_.clear(), ids_.clear(), args_.clear();
  dims_.reserve(n_dims), ids_.reserve(n_ids);
  bool numbers = false;  // whether a tensor's handle is a plain number
  for (const Any& a : given) {
    args_.push_back(argument(a));
    numbers = numbers || (a.kind == ArgKind::value && args_.back().kind != ArgKind::value);
  }
  if (tracing()) read_live_numbers(*op, names), take_live_numbers(*op, args_, names);
  if (numbers || tracing()) make_tensors_of_numbers(*op, given, names);
  if (autocast != DType::none && !itself) cast_arguments(*op);
  CompleteArgs complete(*op, args_, names);
  Results results = builder().invoke(*op, complete.span());
  if (itself) {
    Var result = builder().var(results[0]);
    const TensorType to = builder().type(complete.span()[0].v);
    require(result.shape() == to.shape, name, ": the result has shape ", thunder::name(result.shape()),
            ", it cannot be written to a tensor of shape ", thunder::name(to.shape));
    require(info(result.dtype()).category <= info(to.dtype).category, name, ": the result is ",
            thunder::name(result.dtype()), ", it cannot be written to a tensor of ", thunder::name(to.dtype));
    write(itself, convert(result, to.dtype).id);
    return results;
  }
  copy_what_was_given(*this, builder(), *op, complete.span(), results);
  view_what_was_given(builder(), *op, complete.span(), results);
  // A handle of its own would not know what is said of the input. Not so of a tensor with data while a function is
  // traced: this scope would hold it, and one that the function made would be a constant of all calls.
  if (returns_input(*this, builder(), *op, complete.span(), results) && given[0].kind == ArgKind::value &&
      args_[0].v == complete.span()[0].v && given[0].t->kind() != Tensor::Kind::number &&
      !(tracing() && given[0].t->concrete()))
    itself = given[0].t->concrete() ? own(Ref<Tensor>(given[0].t)) : given[0].t;
  return results;
}

// `take` gets the results, and the tensor that the first of them is: one that an in-place form writes, or the input.
// False after an error, which sticks.
template <class Take>
bool Scope::run_op(std::string_view name, std::span<const Any> args, const char* const* names, const char* where,
                   Take&& take) {
  if (error_) [[unlikely]]
    return false;
  try {
    begin_op(where);
    Tensor* itself = nullptr;
    Results results = dispatch(name, args, names, itself);
    take(results, itself);
    end_op();
    return true;
  } catch (const UnknownInteger& e) {
    end_op();
    if (learn_integers(name, args, names, where)) return run_op(name, args, names, where, std::forward<Take>(take));
    fail_at(e, name, where);
  } catch (const Error& e) {
    end_op();
    fail_at(e, name, where);
  } catch (const std::bad_alloc&) {
    end_op();
    fail(Ref<Status>::adopt(out_of_memory_status()));
  }
  return false;
}

Tensor* Scope::invoke(std::string_view name, std::span<const Any> args, const char* const* names, Tensor** out,
                      size_t n_out, const char* where) {
  Tensor* first = nullptr;
  const bool ran = run_op(name, args, names, where, [&](const Results& results, Tensor* itself) {
    if (n_out > results.size())
      thunder::fail(Code::invalid_argument, name, ": returns ", results.size(), " tensors, ", n_out, " were asked for");
    for (size_t i = 0; i < std::max<size_t>(n_out, 1); i++) {
      Tensor* t = itself && i == 0 ? itself : wrap(results[i]);
      if (i == 0) first = t;
      if (i < n_out) out[i] = t;
    }
  });
  if (ran) return first;
  for (size_t i = 0; i < n_out; i++) out[i] = failed_tensor();
  return failed_tensor();
}

Values* Scope::invoke_all(std::string_view name, std::span<const Any> args, const char* const* names,
                          const char* where) {
  Values* all = own(make<Values>());
  run_op(name, args, names, where, [&](const Results& results, Tensor* itself) {
    for (size_t i = 0; i < results.size(); i++) all->push(Ref<Tensor>(itself && i == 0 ? itself : wrap(results[i])));
  });
  return all;
}

Tensor* Scope::number(const Any& a) {
  Arg value;
  value.kind = a.kind;
  value.i = a.i;
  if (a.kind != ArgKind::real && a.kind != ArgKind::integer && a.kind != ArgKind::boolean) {
    fail(Code::invalid_argument, "number: must be an integer, a float or a boolean");
    return failed_tensor();
  }
  return own(Tensor::number(value));
}

Values* Scope::list(std::span<Tensor* const> tensors) {
  auto v = make<Values>();
  for (Tensor* t : tensors) v->push(Ref<Tensor>(t));
  return own(std::move(v));
}

Values* Scope::grad(Tensor* loss, const Values& wrt) {
  auto out = make<Values>(wrt);
  if (error_) return own(std::move(out));
  try {
    begin_op(nullptr);
    std::vector<Tensor*> tensors;
    for (size_t i = 0; i < wrt.size(); i++) {
      const bool absent = wrt[i].kind == ArgKind::none && !wrt[i].tensor;
      if (!wrt[i].tensor && !absent)  // a path takes as long as all of them
        thunder::fail(Code::invalid_argument, "grad: '", wrt.path(i), "' of wrt is no tensor");
      if (!wrt[i].tensor) continue;
      if (!tracing() && wrt[i].tensor->sharding())
        thunder::fail(Code::failed_precondition, "grad: '", wrt.path(i), "' of wrt is a shard, ",
                      name(wrt[i].tensor->type()), ", since fully_shard: take its gradient in a compiled function");
      tensors.push_back(wrt[i].tensor.get());
    }
    Arg a = argument(Any::tensor(loss));
    require(a.kind == ArgKind::value, "grad: the loss is a plain number");
    auto ids = gradient(a.v, tensors);
    size_t next = 0;
    for (size_t i = 0; i < wrt.size(); i++)
      if (wrt[i].tensor) out->set_tensor(i, Ref<Tensor>(wrap(ids[next++])));
    end_op();
  } catch (const Error& e) {
    end_op();
    fail(e.status());
  }
  return own(std::move(out));
}

}  // namespace thunder
