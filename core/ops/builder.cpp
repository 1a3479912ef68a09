#include "ops/builder.h"

#include "base/nesting.h"
#include "base/text.h"
#include "ir/prim.h"
#include "ops/numbers.h"
#include "tensor/tensor.h"

namespace thunder {

const TensorType& Var::type() const { return builder->type(id); }

Results Builder::invoke(const OpDef& op, std::span<const Arg> args) {
  Call call(*this, op, args);
  if (op.prim) {
    Types types;
    op.meta(call, types);
    for (size_t i = 0; i < types.count; i++)
      call.require(fits_in_memory(types.at[i]), "a result of type ", name(types.at[i]), " would not fit in memory");
    return prim(op, args, types);
  }
  if (Results made; run_whole(op, args, made)) return made;
  const Nesting inside(op.name(), Nesting::Of::op);
  enter(op);
  try {
    return leave(op, args, op.decompose(call));
  } catch (...) {
    abandon();
    throw;
  }
}

Results Builder::results(const OpDef& op, std::initializer_list<In> args) {
  SmallVector<Arg, 8> given;
  for (const In& a : args) given.push_back(a);
  CompleteArgs complete(op, given);
  return invoke(op, complete.span());
}

Var Call::var(size_t i) const {
  const Arg& a = at(i);
  switch (a.kind) {
    case ArgKind::none: return {};
    case ArgKind::value:
      return type(i).weak ? convert(builder.var(a.v), tensor_dtype(type(i).dtype)) : builder.var(a.v);
    default: break;
  }
  if (!is_number(a)) wrong_kind(i, ArgKind::value);
  return number_tensor(builder, a);
}

std::vector<Var> Call::vars(size_t i) const {
  std::vector<Var> out;
  for (ValueId v : of(i, ArgKind::values).value_list()) out.push_back(builder.var(v));
  return out;
}

void Call::no_argument(size_t i) const {
  fail(Code::invalid_argument, op.name(), ": asked for argument ", i, ", it has ", args.size(), "; ", op.schema.text);
}

void Call::wrong_kind(size_t i, ArgKind wanted) const {
  Arg like;
  like.kind = wanted;
  fail(Code::invalid_argument, op.name(), ": argument '", op.schema.params[i].name, "' must be ", kind_of(like),
       ", got ", kind_of(args[i]));
}

Shape Call::axes(size_t i, size_t rank) const {
  SmallVector<bool, 8> seen(std::max<size_t>(rank, 1), false);
  const bool all = !has(i) || dims(i).empty();
  if (!all)
    for (Dim d : dims(i)) {
      size_t axis = normalize_axis(hint(d), rank);
      require(!seen[axis], "dim ", hint(d), " appears twice in the list of dims");
      seen[axis] = true;
    }
  Shape out;
  for (size_t axis = 0; axis < rank; axis++)
    if (all || seen[axis]) out.push_back(static_cast<int64_t>(axis));
  return out;
}

void append(std::string& out, const Call* c) {
  bool first = true;
  for (size_t i = 0; i < c->args.size(); i++) {
    if (c->args[i].kind != ArgKind::value) continue;
    out += cat(first ? "" : ", ", c->op.schema.params[i].name, " is ", name(c->type(i)));
    first = false;
  }
}

Var to_device(Var x, Device device) {
  return x.type().device == device ? x : x.builder->call(Prim::to_device, {x, device});
}

Var full(Builder& b, std::span<const Dim> shape, double value, DType dtype, Device device) {
  return b.call(Prim::full, {shape, value, dtype, device});
}

Var number_tensor(Builder& b, const Arg& number) {
  const bool real = number.kind == ArgKind::real;
  return full(b, {}, number, real ? tensor_dtype(DType::f64) : number.is_integer() ? DType::i64 : DType::boolean);
}

Var full_like(Var x, double value) {
  return expand_to(full(*x.builder, {}, value, x.dtype(), x.type().device), x.shape());
}

Var convert(Var x, DType dtype) {
  if (x.dtype() == dtype && !x.type().weak) return x;
  return x.builder->call(Prim::convert, {x, dtype});
}

namespace {
bool same_shape(Var x, std::span<const Dim> shape) {
  const Shape& have = x.shape();
  return std::equal(have.begin(), have.end(), shape.begin(), shape.end());
}
}  // namespace

Var reshape_to(Var x, std::span<const Dim> shape) {
  if (same_shape(x, shape)) return x;
  return x.builder->call(Prim::reshape, {x, shape});
}

Var permute_to(Var x, std::span<const Dim> order) {
  bool identity = true;
  for (size_t i = 0; i < order.size(); i++) identity &= order[i] == Dim(static_cast<int64_t>(i));
  return identity ? x : x.builder->call(Prim::permute, {x, order});
}

Var expand_to(Var x, std::span<const Dim> shape) {
  if (same_shape(x, shape)) return x;
  return x.builder->call(Prim::expand, {x, shape});
}

Var sum_to(Var x, std::span<const Dim> shape) {
  if (same_shape(x, shape)) return x;
  const size_t lead = x.rank() - shape.size();
  Shape axes;
  for (size_t i = 0; i < x.rank(); i++)
    if (i < lead || (shape[i - lead] == Dim(1) && !(x.shape()[i] == Dim(1)))) axes.push_back(static_cast<int64_t>(i));
  if (!axes.empty()) x = x.builder->call(Prim::sum, {x, axes});
  return reshape_to(x, shape);
}

Var operator+(Var a, In b) { return a.builder->call("add", {a, b}); }
Var operator-(Var a, In b) { return a.builder->call("sub", {a, b}); }
Var operator*(Var a, In b) { return a.builder->call("mul", {a, b}); }
Var operator/(Var a, In b) { return a.builder->call("div", {a, b}); }
Var operator-(double a, Var b) { return b.builder->call("sub", {a, b}); }
Var operator-(Var a) { return a.builder->call("neg", {a}); }

}  // namespace thunder
