// Running reductions along a dim, products, and differences.
#include "ops/tables.h"

namespace thunder {
namespace {

DType accumulation_dtype(const Call& c, size_t param) {
  return c.dtype(param, is_real(c.type(0).dtype) ? c.type(0).dtype : DType::i64);
}

// cumsum, cumprod
Results scan_in_accumulation_dtype(Call& c) {
  c.axis(1, c.type(0).rank());
  return c.builder.call(cat("prims.", c.op.name()), {convert(c.var(0), accumulation_dtype(c, 2)), c.integer(1), false});
}
Results logcumsumexp(Call& c) {
  Var x = c.var(0);
  c.axis(1, x.rank());
  return c.builder.call(Prim::logcumsumexp, {convert(x, to_real(x.dtype())), c.integer(1), false});
}
// cummax, cummin
Results cumulative_extremum(Call& c) {
  c.axis(1, c.type(0).rank());
  return c.builder.results(cat("prims.", c.op.name()), {c.var(0), c.integer(1)});
}

Results prod(Call& c) {
  Var x = convert(c.var(0), accumulation_dtype(c, 3));
  if (!c.has(1)) {
    Var y = c.builder.call(Prim::prod, {reshape_to(x, Shape{elements(x.shape())}), 0});
    return c.flag(2) ? reshape_to(y, Shape(x.rank(), 1)) : y;
  }
  const size_t axis = c.axis(1, x.rank());
  Var y = c.builder.call(Prim::prod, {x, static_cast<int64_t>(axis)});
  if (!c.flag(2) || x.rank() == 0) return y;
  Shape kept = x.shape();
  kept[axis] = 1;
  return reshape_to(y, kept);
}

// Subtracts the preceding element from each, n times.
Results diff(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() > 0, "input must have at least one dim");
  const auto dim = static_cast<int64_t>(c.axis(2, x.rank()));
  if (c.integer(1) > 0 && (c.has(3) || c.has(4))) {
    // A number is expanded to one slice.
    Shape slice = x.shape();
    slice[static_cast<size_t>(dim)] = 1;
    ValueList parts;
    for (size_t i : {3, 0, 4})
      if (c.has(i)) parts.push_back((c.type(i).rank() == 0 ? expand_to(c.var(i), slice) : c.var(i)).id);
    x = c.builder.call("cat", {parts, dim});
  }
  c.require(c.integer(1) >= 0, "n must not be negative, got ", c.integer(1));
  for (int64_t i = 0; i < c.integer(1); i++) {
    if (hint(x.size(dim)) == 0) break;
    Var behind = c.builder.call("slice", {x, dim, 1, nullptr, 1}), before = c.builder.call("slice", {x, dim, 0, -1, 1});
    x = x.dtype() == DType::boolean ? ne(behind, before) : behind - before;
  }
  return x;
}
// The integral of a line through points that are dx apart, or at the places x.
Results trapezoid(Call& c) {
  Var y = c.var(0);
  c.require(y.rank() > 0, "y must have at least one dim");
  const auto dim = static_cast<int64_t>(c.axis(3, y.rank()));
  const DType dtype = to_real(y.dtype());
  y = computed(convert(y, dtype));
  Var middle = (c.builder.call("slice", {y, dim, 1, nullptr, 1}) + c.builder.call("slice", {y, dim, 0, -1, 1})) * 0.5;
  if (c.has(1)) {
    Var x = convert(c.var(1), y.dtype());
    const bool vector = x.rank() == 1;
    Var steps = c.builder.call("diff", {x, 1, vector ? 0 : dim});
    middle = middle * (vector ? along_axis(steps, static_cast<size_t>(dim), y.rank()) : steps);
  } else {
    middle = middle * c.real(2);
  }
  return convert(c.builder.call("sum", {middle, Shape{dim}}), dtype);
}

void sample_lines(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 1});
  s.add({TensorSpec{{5, 3, 7}}, 0});
  s.add({TensorSpec{{5, 3, 7}}, -2});
  s.add({TensorSpec{{}}, 0});
  s.add({TensorSpec{{2, 0}}, 1});
  s.add({TensorSpec{{4}, DType::bf16}, 0});
  s.refuse({TensorSpec{{2, 3}}, 2}, "2");
}
void sample_running_sums(Samples& s) {
  sample_lines(s);
  s.add({TensorSpec{{33}}, 0});
  s.add({TensorSpec{{2, 4}, DType::i32, -9, 9}, 1});
}
void sample_whole_lines(Samples& s) {
  sample_lines(s);
  s.add({TensorSpec{{2, 4}, DType::i32, -3, 3}, 1});
}
void sample_products(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3, 4}}, 1});
  s.add({TensorSpec{{2, 3}}, -1, true});
  s.add({TensorSpec{{3}}, SampleArg(), true});
  s.add({TensorSpec{{}}, 0});
  s.add({TensorSpec{{0, 3}}, 0});
  s.add({TensorSpec{{3}, DType::bf16}, 0});
  s.add({TensorSpec{{2, 3}, DType::i32, -3, 3}, 1});
  s.add({TensorSpec{{3}}, SampleArg(), false, DType::f64});
  s.refuse({TensorSpec{{2, 3}}, 2}, "out of range");
}
void sample_differences(Samples& s) {
  s.add({TensorSpec{{2, 5}}});
  s.add({TensorSpec{{5, 3}}, 2, 0});
  s.add({TensorSpec{{4}, DType::i64, -9, 9}});
  s.refuse({TensorSpec{{4}}, -1}, "negative");
}
void sample_integrals(Samples& s) {
  s.add({TensorSpec{{2, 5}}});
  s.add({TensorSpec{{5, 3}}, SampleArg(), 0.5, 0});
  s.add({TensorSpec{{2, 5}}, TensorSpec{{5}}});
}

constexpr OpRow kRows[] = {
    composite("prod(tensor input, int? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor", CastPolicy::fp32,
              "Product along dim, or of all elements; booleans and integers give i64 unless a dtype is given.", prod,
              sample_products, kReduction),
    composite(
        "cumsum(tensor input, int dim, dtype? dtype=None) -> tensor", CastPolicy::fp32,
        "The sum of each element and those before it along dim; of integers and booleans as i64 unless a dtype is "
        "given.",
        scan_in_accumulation_dtype, sample_running_sums),
    composite("cumprod(tensor input, int dim, dtype? dtype=None) -> tensor", CastPolicy::fp32,
              "The product of each element and those before it along dim.", scan_in_accumulation_dtype,
              sample_whole_lines, kInplace),
    composite("cummax(tensor input, int dim) -> (tensor values, tensor indices)", CastPolicy::none,
              "The greatest so far along dim, and the last place where it was.", cumulative_extremum,
              sample_whole_lines),
    composite("cummin(tensor input, int dim) -> (tensor values, tensor indices)", CastPolicy::none,
              "The least so far along dim, and the last place where it was.", cumulative_extremum, sample_whole_lines),
    composite("logcumsumexp(tensor input, int dim) -> tensor", CastPolicy::none,
              "log(cumsum(exp(input))) along dim, without overflow.", logcumsumexp, sample_lines),
    composite(
        "diff(tensor input, int n=1, int dim=-1, tensor? prepend=None, tensor? append=None) -> tensor",
        CastPolicy::none,
        "Each element less the one before it along dim, n times; prepend and append stand before and behind them.",
        diff, sample_differences),
    composite("trapezoid(tensor y, tensor? x=None, float dx=1, int dim=-1) -> tensor", CastPolicy::none,
              "The integral along dim by the trapezoidal rule.", trapezoid, sample_integrals),
};

}  // namespace

extern const OpRows scans_ops = kRows;

}  // namespace thunder
