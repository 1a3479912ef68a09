// The one interface that decompositions and gradients are written against: it records while tracing and runs when
// eager. A Var is a value with its builder, so that formulas read as formulas.
#pragma once

#include <vector>

#include "ops/registry.h"

namespace thunder {

// Why a write is refused, wherever it is noticed.
constexpr std::string_view kExpanded =
    "cannot write in place to an expanded tensor: several of its elements share one place in memory; clone it first";

class Builder;
using ValueList = SmallVector<ValueId, 8>;

struct Var {
  Builder* builder = nullptr;
  ValueId id = kNoValue;

  explicit operator bool() const { return builder != nullptr; }
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  Dim size(int64_t axis) const { return type().shape[normalize_axis(axis, type().rank())]; }
  size_t rank() const { return type().rank(); }
  DType dtype() const { return type().dtype; }
  operator Results() const { return {id}; }
};

// Anything that may stand as an argument of Builder::call. Lists and strings are borrowed for the call.
struct In : Arg {
  In(const Arg& a) : Arg(a) {}
  In(const Var& v) : Arg(v ? Arg::value(v.id) : Arg::none()) {}
  In(bool b) : Arg(Arg::boolean(b)) {}
  In(int i) : Arg(Arg::integer(i)) {}
  In(int64_t i) : Arg(Arg::integer(i)) {}
  In(double f) : Arg(Arg::real(f)) {}
  In(const char* s) : Arg(Arg::string(s)) {}
  In(std::string_view s) : Arg(Arg::string(s)) {}
  In(std::span<const Dim> d) : Arg(Arg::dims(d)) {}
  In(const Shape& d) : Arg(Arg::dims(d)) {}
  In(const ValueList& v) : Arg(Arg::values(v)) {}
  In(DType d) : Arg(d == DType::none ? Arg::none() : Arg::of(d)) {}
  In(Device d) : Arg(d == Device::none ? Arg::none() : Arg::of(d)) {}
  In(std::nullptr_t) : Arg(Arg::none()) {}
};

// "a tensor", "an integer" ...: what a message calls an argument.
std::string_view kind_of(const Arg& a);

// Arguments of a call in schema order, complete; owns what conversions made.
class CompleteArgs {
 public:
  // Checks kinds against the schema, converts (int to float, one int to a list, a dtype's name to a dtype), fills in
  // defaults. `names` null: positional; else a name for each (or null for positional ones). Throws naming op and
  // argument.
  CompleteArgs(const Schema& schema, std::span<const Arg> given, const char* const* names = nullptr);
  CompleteArgs(const OpDef& op, std::span<const Arg> given, const char* const* names = nullptr)
      : CompleteArgs(op.schema, given, names) {}
  std::span<const Arg> span() const { return {args_.data(), args_.size()}; }

 private:
  void place(const Schema& schema, size_t param, const Arg& given);
  void place_named(const Schema& schema, std::span<const Arg> given, const char* const* names);
  void place_fallback(const Schema& schema, size_t param);
  SmallVector<Arg, 8> args_;
  SmallVector<Dim, 8> singles_;
  SmallVector<double, 2> reals_;
};

// The source of a random op's numbers: the state tensor i64[2] {seed, draws}, and its ordinal in this call.
struct Draw {
  Var state;
  int64_t ordinal;
};

class Builder {
 public:
  explicit Builder(const Registry& registry) : registry_(registry) {}
  virtual ~Builder() = default;
  Builder(const Builder&) = delete;

  const Registry& registry() const { return registry_; }

  // The first result; `results` gives all. Throws what the op's checks throw.
  Var call(std::string_view op, std::initializer_list<In> args) { return var(results(op, args)[0]); }
  Var call(Prim op, std::initializer_list<In> args) { return var(results(op, args)[0]); }
  Results results(std::string_view op, std::initializer_list<In> args) { return results(registry_.get(op), args); }
  Results results(Prim op, std::initializer_list<In> args) { return results(registry_.get(op), args); }
  // Requires: args complete.
  virtual Results invoke(const OpDef& op, std::span<const Arg> args);

  virtual const TensorType& type(ValueId) const = 0;
  virtual Draw draw() = 0;
  // The value of a 0-d i64, on which the shapes of results of `op` depend. Known only where ops run at once: recorders
  // throw `unimplemented`, and say what to do instead.
  virtual int64_t read_integer(ValueId, const OpDef& op) = 0;
  // Whether what a view prim made of `base` lies in base's memory, where memory is known: strides may have asked for a
  // copy.
  virtual bool aliases(ValueId /*view*/, ValueId /*base*/) const { return true; }
  Var var(ValueId id) { return {this, id}; }

  // Runs a composite's decomposition, and gives the lines that it recorded. Of builders that run composites as a whole.
  virtual Results decompose(const OpDef& op, std::span<const Arg>, std::vector<const Node*>&) {
    fail(Code::internal, op.name(), " has no gradient");
  }

 protected:
  virtual Results prim(const OpDef& op, std::span<const Arg> args, const Types& types) = 0;
  // Runs a composite as a whole. False: it is decomposed.
  virtual bool run_whole(const OpDef&, std::span<const Arg>, Results&) { return false; }
  // Around a composite's decomposition. `leave` may give the results other ids.
  virtual void enter(const OpDef& op) = 0;
  virtual Results leave(const OpDef& op, std::span<const Arg> args, const Results& results) = 0;
  // The decomposition threw.
  virtual void abandon() = 0;

 private:
  Results results(const OpDef& op, std::initializer_list<In> args);
  const Registry& registry_;
};

// An operation with its arguments, as meta functions and decompositions see it. Indices are the schema's.
class Call {
 public:
  Call(Builder& b, const OpDef& op, std::span<const Arg> args) : builder(b), op(op), args(args) {}

  Builder& builder;
  const OpDef& op;
  std::span<const Arg> args;

  // Accessors check that the argument is there and of this kind, always: they throw naming op and argument.
  bool has(size_t i) const { return at(i).present(); }
  // A number given for a tensor, live or not, becomes a 0-d tensor of its default dtype. Absent: an empty Var.
  Var var(size_t i) const;
  std::vector<Var> vars(size_t i) const;
  const TensorType& type(size_t i) const { return builder.type(of(i, ArgKind::value).v); }
  // The integer; of a symbolic one the value seen while tracing.
  int64_t integer(size_t i) const { return hint(integer_dim(i)); }
  Dim integer_dim(size_t i) const {
    return at(i).kind == ArgKind::symbolic ? args[i].dim() : Dim(of(i, ArgKind::integer).i);
  }
  double real(size_t i) const { return of(i, ArgKind::real).f; }
  bool flag(size_t i) const { return of(i, ArgKind::boolean).i != 0; }
  std::string_view text(size_t i) const { return of(i, ArgKind::string).text(); }
  std::span<const Dim> dims(size_t i) const { return of(i, ArgKind::dims).dim_list(); }
  std::span<const double> reals(size_t i) const { return of(i, ArgKind::reals).real_list(); }
  DType dtype(size_t i, DType otherwise = DType::none) const {
    return has(i) ? of(i, ArgKind::dtype).dtype : otherwise;
  }
  Device device(size_t i) const { return has(i) ? of(i, ArgKind::device).device : Device::cpu; }
  // Of a 0-d i64: what the shapes of the results depend on. Throws where ops are recorded; the op is tagged kEager.
  int64_t value_of(Var v) const { return builder.read_integer(v.id, op); }
  size_t axis(size_t i, size_t rank) const { return normalize_axis(integer(i), rank); }
  // int[]? dim as sorted axes from the front without repeats; absent or empty means all.
  Shape axes(size_t i, size_t rank) const;

  // Throws "OP: ..." unless it holds.
  template <class... T>
  void require(bool holds, const T&... parts) const {
    if (!holds) [[unlikely]]
      fail(Code::invalid_argument, op.name(), ": ", parts...);
  }
  // "input is f32[4, 8], other is f32[3]": what a message about shapes ends with.
  Lazy<const Call*> types() const { return Lazy(this); }

 private:
  const Arg& at(size_t i) const {
    if (i >= args.size()) [[unlikely]] no_argument(i);
    return args[i];
  }
  const Arg& of(size_t i, ArgKind kind) const {
    if (at(i).kind != kind) [[unlikely]] wrong_kind(i, kind);
    return args[i];
  }
  [[noreturn]] void no_argument(size_t i) const;
  [[noreturn]] void wrong_kind(size_t i, ArgKind wanted) const;
};

void append(std::string& out, const Call* call);

// Helpers that decompositions share.
Var convert(Var x, DType dtype);                          // no-op when it has it
Var to_device(Var x, Device device);                      // no-op when it is there
Var expand_to(Var x, std::span<const Dim> shape);         // broadcasts; no-op when it has it
Var reshape_to(Var x, std::span<const Dim> shape);        // no-op when it has it
Var permute_to(Var x, std::span<const Dim> order);
// A plain number as a 0-d tensor of its default dtype.
Var number_tensor(Builder& b, const Arg& number);
Var full_like(Var x, double value);                       // x's shape and dtype
Var full(Builder& b, std::span<const Dim> shape, double value, DType dtype, Device device = Device::cpu);
// Sums x down to `shape`, the inverse of broadcasting; the gradient of expand.
Var sum_to(Var x, std::span<const Dim> shape);
// Operands of an elementwise op, promoted and broadcast to one type. Numbers stand as 0-d expanded fulls.
using Operands = SmallVector<Var, 4>;
Operands promoted(const Call& c, std::initializer_list<size_t> params, bool to_real_dtype = false);
// The promoted dtype of the operands that `add` gives a Promotion; throws for those that PyTorch does not promote.
template <class F>
DType common_dtype(const Call& c, const F& add) {
  Promotion p;
  DType out = DType::none;
  try {
    add(p);
    out = p.dtype();
  } catch (const Error& e) {
    c.require(false, e.message(), "; ", c.types());
  }
  return out;
}

// Formulas. Operands promote and broadcast; a double is a number, not a tensor.
Var operator+(Var a, In b);
Var operator-(Var a, In b);
Var operator*(Var a, In b);
Var operator/(Var a, In b);
Var operator-(Var a);
Var operator-(double a, Var b);

}  // namespace thunder
