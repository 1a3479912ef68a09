#include "ops/batch.h"

#include <algorithm>

#include "base/text.h"
#include "ops/formulas.h"

namespace thunder {

size_t Batch::first(size_t arg) const {
  size_t at = 0;
  for (size_t i = 0; i < arg; i++)
    at += args[i].kind == ArgKind::value ? 1 : args[i].kind == ArgKind::values ? args[i].count : 0;
  return at;
}

bool Batch::batched(size_t arg) const {
  const size_t at = first(arg), count = args[arg].kind == ArgKind::value    ? 1
                                        : args[arg].kind == ArgKind::values ? args[arg].count
                                                                            : 0;
  return std::any_of(has_.begin() + static_cast<ptrdiff_t>(at), has_.begin() + static_cast<ptrdiff_t>(at + count),
                     [](bool b) { return b; });
}

Var Batch::with_dim(Var x, bool has) const { return has ? x : expand_to(x, with_front(size_, x.shape())); }

Shape Batch::with_front(Dim front, std::span<const Dim> rest) const {
  Shape out{front};
  for (Dim d : rest) out.push_back(d);
  return out;
}

Shape Batch::shifted(std::span<const Dim> dims, size_t rank) const {
  Shape out;
  for (Dim d : dims) out.push_back(static_cast<int64_t>(normalize_axis(hint(d), rank) + 1));
  return out;
}

Var Batch::merged(size_t arg) const {
  Var x = operand(arg);
  Shape shape = x.shape();
  shape[1] = shape[0] * shape[1];
  shape.erase(0);
  return reshape_to(x, shape);
}

Var Batch::parted(Var result, size_t i) const { return reshape_to(result, with_front(size_, example(i).shape)); }

Var Batch::example_indices(const Shape& shape) const {
  Var n = builder.call(Prim::iota, {Shape{size_}, DType::i64, Device::cpu});
  return expand_to(reshape_to(n, with_front(size_, Shape(shape.size() - 1, 1))), shape);
}

namespace {

// The arguments with each tensor replaced by f(argument, element).
template <class F>
Results invoke_with(const Batch& b, F&& f, size_t dim_at = SIZE_MAX, int64_t dim = 0) {
  std::vector<Arg> args(b.args.begin(), b.args.end());
  std::vector<ValueList> lists(args.size());
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind == ArgKind::value) args[i].v = f(i, 0).id;
    if (args[i].kind != ArgKind::values) continue;
    for (size_t k = 0; k < args[i].count; k++) lists[i].push_back(f(i, k).id);
    args[i] = Arg::values(lists[i]);
  }
  if (dim_at != SIZE_MAX) args[dim_at] = Arg::integer(dim);
  return b.builder.invoke(b.op, args);
}

Var operand_of(const Batch& b, size_t arg, size_t element) {
  return b.args[arg].kind == ArgKind::value ? b.operand(arg) : b.operand(arg, element);
}

Results elementwise(Batch& b) {
  return invoke_with(b, [&](size_t arg, size_t element) { return operand_of(b, arg, element); });
}

Results reduction(Batch& b) {
  Shape dims = b.dims(1).empty() ? Shape() : b.shifted(b.dims(1), b.rank(0));
  if (b.dims(1).empty())
    for (size_t i = 0; i < b.rank(0); i++) dims.push_back(static_cast<int64_t>(i + 1));
  return dims.empty() ? Results{b.args[0].v} : b.invoke_same_op({b.args[0], dims});
}

// Ops along one dim of operands of one rank. Examples that are 0-d get a dim to go along.
Results along_dim(Batch& b) {
  const auto at = static_cast<size_t>(b.op.schema.find("dim"));
  size_t rank = 0;
  for (size_t i = b.args.size(); i-- > 0;) {
    if (b.args[i].kind == ArgKind::value) rank = operand_of(b, i, 0).rank() - 1;
    if (b.args[i].kind == ArgKind::values && b.args[i].count) rank = operand_of(b, i, 0).rank() - 1;
  }
  const auto laid = [&](size_t arg, size_t element) {
    Var x = operand_of(b, arg, element);
    return rank ? x : reshape_to(x, Shape{b.size(), 1});
  };
  const int64_t dim = rank ? static_cast<int64_t>(normalize_axis(b.integer(at), rank) + 1) : 1;
  Results out = invoke_with(b, laid, at, dim);
  for (size_t i = 0; i < out.size(); i++) out[i] = b.parted(b.builder.var(out[i]), i).id;
  return out;
}

bool has_int(const OpDef& op, const char* name) {
  const int at = op.schema.find(name);
  return at >= 0 && op.schema.params[static_cast<size_t>(at)].kind == ParamKind::integer;
}

}  // namespace

BatchFn batch_rule(const OpDef& op) {
  if (op.batch) return op.batch;
  if (!op.prim) return nullptr;
  if (op.has(kElementwise)) return elementwise;
  if (has_int(op, "dim")) return along_dim;
  if (op.has(kReduction) && op.schema.find("dims") == 1) return reduction;
  return nullptr;
}

BatchWay batch_way(const OpDef& op) {
  return batch_rule(op) ? BatchWay::rule : op.prim ? BatchWay::unrolled : BatchWay::lines;
}

Results unroll(Batch& b) {
  const int64_t n = hint(b.size());
  std::vector<Results> each;
  for (int64_t i = 0; i < n; i++)
    each.push_back(invoke_with(b, [&](size_t arg, size_t element) {
      const bool list = b.args[arg].kind == ArgKind::values;
      Var x = b.builder.var(list ? b.args[arg].vs[element] : b.args[arg].v);
      if (list ? !b.batched(arg, element) : !b.batched(arg)) return x;
      Shape starts(x.rank(), 0), ends = x.shape(), rest = x.shape();
      starts[0] = i, ends[0] = i + 1;
      rest.erase(0);
      return reshape_to(b.builder.call(Prim::slice, {x, starts, ends, Shape(x.rank(), 1)}), rest);
    }));
  Results out;
  for (size_t r = 0; r < b.count(); r++) {
    ValueList parts;
    const TensorType& type = b.example(r);
    for (const Results& one : each) parts.push_back(reshape_to(b.builder.var(one[r]), b.with_front(1, type.shape)).id);
    if (parts.empty()) parts.push_back(full(b.builder, b.with_front(0, type.shape), 0, type.dtype, type.device).id);
    out.push_back(b.builder.call(Prim::cat, {parts, 0}).id);
  }
  return out;
}

}  // namespace thunder
