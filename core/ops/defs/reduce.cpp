// Reductions as users call them: dims may be left out (all of them) or kept with size 1.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/formulas.h"

namespace thunder {
namespace {

// The shape with 1 for each reduced dim.
Shape kept_shape(std::span<const Dim> shape, std::span<const Dim> axes) {
  Shape kept(shape);
  for (Dim axis : axes) kept[static_cast<size_t>(axis.value())] = 1;
  return kept;
}
Var call_reduction(std::string_view prim, Var x, std::span<const Dim> axes, bool keepdim) {
  if (axes.empty()) return x;
  Var y = x.builder->call(prim, {x, axes});
  return keepdim ? reshape_to(y, kept_shape(x.shape(), axes)) : y;
}
// Broadcasts a reduction's result, or its cotangent, to the input's shape.
Var expand_to_input(Var y, std::span<const Dim> shape, std::span<const Dim> axes) {
  return expand_to(reshape_to(y, kept_shape(shape, axes)), shape);
}
Var expand_to_input(const Grad& g, Var y) {
  const Shape& shape = g.type(0).shape;
  return expand_to_input(y, shape, g.axes(1, shape.size()));
}

// The number of elements in each result: a number, or for symbolic sizes a tensor.
In reduced_element_count(Var x, std::span<const Dim> axes) {
  Shape counted;
  for (Dim axis : axes) counted.push_back(x.shape()[static_cast<size_t>(axis.value())]);
  const Dim n = elements(counted);
  if (n.constant()) return static_cast<double>(n.value());
  return count(x, counted);
}

// ---- sum, mean, var ----

Results sum(Call& c) {
  Var x = c.var(0);
  x = convert(x, c.dtype(3, is_real(x.dtype()) ? x.dtype() : DType::i64));
  return call_reduction("prims.sum", x, c.axes(1, x.rank()), c.flag(2));
}

Var mean_of(Var x, std::span<const Dim> axes, bool keepdim) {
  return call_reduction("prims.sum", x, axes, keepdim) / reduced_element_count(x, axes);
}
Results mean(Call& c) {
  Var x = c.var(0);
  const DType dtype = c.dtype(3, x.dtype());
  c.require(is_real(dtype), "the mean must be real, got dtype ", name(dtype), "; input is ", name(c.type(0)));
  return convert(mean_of(convert(x, compute_dtype(dtype)), c.axes(1, x.rank()), c.flag(2)), dtype);
}
void mean_vjp(Grad& g) {
  Var dy = computed(g.cotangent());
  g.add(0, expand_to_input(g, dy) / reduced_element_count(computed(g.var(0)), g.axes(1, g.type(0).rank())));
}

// The divisor of the sum of squares: never negative, as in PyTorch.
In degrees_of_freedom(Var x, std::span<const Dim> axes, double correction) {
  In n = reduced_element_count(x, axes);
  if (n.kind == ArgKind::real) return std::max(0.0, n.f - correction);
  return x.builder->call("maximum", {x.builder->call("sub", {n, correction}), 0.0});
}
Var subtract_mean(Var x, std::span<const Dim> axes) { return x - mean_of(x, axes, true); }
// Bessel's correction: one unless the caller says otherwise.
double correction_of(const Call& c) { return c.has(2) ? c.real(2) : 1; }
Results var(Call& c) {
  require_real(c);
  Var x = computed(c.var(0));
  Shape axes = c.axes(1, x.rank());
  // Corrects the rounding error of the mean, which is large if the mean is.
  Var away = subtract_mean(x, axes), left = call_reduction("prims.sum", away, axes, c.flag(3));
  Var squares = call_reduction("prims.sum", away * away, axes, c.flag(3));
  Var corrected = c.builder.call("maximum", {squares - left * left / reduced_element_count(x, axes), 0.0});
  squares = where(c.builder.call("eq", {squares, HUGE_VAL}), squares, corrected);
  return convert(squares / degrees_of_freedom(x, axes, correction_of(c)), c.type(0).dtype);
}
void var_vjp(Grad& g) {
  Var x = computed(g.var(0));
  Shape axes = g.axes(1, x.rank());
  Var scale = computed(g.cotangent()) * 2.0 / degrees_of_freedom(x, axes, correction_of(g));
  g.add(0, expand_to_input(g, scale) * subtract_mean(x, axes));
}

// ---- amax, amin, argmax ----

template <bool maximum>
Results extremum(Call& c) {
  Var x = c.var(0);
  Shape axes = c.axes(1, x.rank());
  for (Dim axis : axes)
    c.require(!(x.shape()[static_cast<size_t>(axis.value())] == Dim(0)), "dim ", axis.value(), " of ", name(x.type()),
              " has no elements, so no ", maximum ? "maximum" : "minimum");
  return call_reduction(maximum ? "prims.amax" : "prims.amin", x, axes, c.flag(2));
}

Results argmax(Call& c) {
  Var x = c.var(0);
  const size_t rank = x.rank();
  if (c.has(1)) {
    const size_t axis = c.axis(1, rank);
    Var at = c.builder.call(Prim::argmax, {x, static_cast<int64_t>(axis)});
    const Dim gone[] = {static_cast<int64_t>(axis)};
    return c.flag(2) && rank ? reshape_to(at, kept_shape(x.shape(), gone)) : at;
  }
  const Dim all[] = {elements(x.shape())};
  Var at = c.builder.call(Prim::argmax, {reshape_to(x, all), 0});
  return c.flag(2) ? reshape_to(at, Shape(rank, 1)) : at;
}

// ---- logsumexp ----

Results logsumexp(Call& c) {
  Var x = c.var(0);
  const DType dtype = to_real(x.dtype());
  x = computed(convert(x, dtype));
  Builder& b = c.builder;
  Shape axes = c.axes(1, x.rank());
  // Shifted by the maximum, unless that is infinite: the difference of two infinities is NaN.
  Var top = call_reduction("prims.amax", x, axes, true);
  top = b.call("where", {b.call("eq", {b.call("abs", {top}), HUGE_VAL}), 0.0, top});
  Var sum = call_reduction("prims.sum", b.call(Prim::exp, {x - top}), axes, true);
  Var y = b.call(Prim::log, {sum}) + top;
  if (!c.flag(2) && !axes.empty()) {
    Shape shape;
    for (size_t i = 0; i < x.rank(); i++)
      if (std::find(axes.begin(), axes.end(), Dim(static_cast<int64_t>(i))) == axes.end())
        shape.push_back(x.shape()[i]);
    y = reshape_to(y, shape);
  }
  return convert(y, dtype);
}
void logsumexp_vjp(Grad& g) {
  Var x = computed(g.var(0));
  g.add(0, expand_to_input(g, computed(g.cotangent())) *
               g.builder.call(Prim::exp, {x - expand_to_input(g, computed(g.result()))}));
}

// ---- all, any ----

// The result is boolean, but u8 for u8, which stood for booleans in older versions of PyTorch.
Results reduce_booleans(Call& c, std::string_view prim) {
  Var x = c.var(0);
  Var y = call_reduction(prim, convert(x, DType::boolean), c.axes(1, x.rank()), c.flag(2));
  return x.dtype() == DType::u8 ? convert(y, DType::u8) : y;
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_over_dims(Samples& s, bool empty_is_defined) {
  s.add({TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{1}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{-1}});
  s.add({TensorSpec{{2, 3, 4}, DType::f64}, Ints{0, 2}});
  s.add({TensorSpec{{5}, DType::bf16}, Ints{0}});
  s.add({TensorSpec{{}}});
  s.add({TensorSpec{{3, 40}}, Ints{1}});
  s.add({TensorSpec{{40, 3}}, Ints{0}});
  s.add({TensorSpec{{0, 3}}, Ints{1}});
  if (empty_is_defined) s.add({TensorSpec{{0, 3}}, Ints{0}});
  s.refuse({TensorSpec{{2, 3}}, Ints{2}}, "out of range");
  s.refuse({TensorSpec{{2, 3}}, Ints{0, -2}}, "twice");
}
void sample_sums(Samples& s) {
  sample_over_dims(s, true);
  s.add({TensorSpec{{2, 3}}, Ints{1}, true});
  s.add({TensorSpec{{2, 3}, DType::i32, -9, 9}});
  s.add({TensorSpec{{2, 3}, DType::boolean, 0, 1}, Ints{0}});
  s.add({TensorSpec{{2, 3}}, SampleArg(), false, DType::f64});
}
void sample_means(Samples& s) {
  sample_over_dims(s, false);
  s.add({TensorSpec{{2, 3}}, Ints{1}, true});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}, SampleArg(), false, DType::f32});
  s.refuse({TensorSpec{{2, 3}, DType::i64, -9, 9}}, "real");
}
void sample_variances(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{1}});
  s.add({TensorSpec{{2, 3, 4}, DType::f64}, Ints{0, -1}, 0, true});
  s.add({TensorSpec{{5}, DType::bf16}, Ints{0}});
  s.add({TensorSpec{{0, 3}}, Ints{1}});
  s.refuse({TensorSpec{{2, 3}, DType::i64, -9, 9}}, "real");
  s.refuse({TensorSpec{{2, 3}}, Ints{2}}, "out of range");
}
void sample_extrema(Samples& s) {
  sample_over_dims(s, false);
  s.add({TensorSpec{{2, 3}}, Ints{1}, true});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}, Ints{0}});
  s.add({TensorSpec{{4}, DType::boolean, 0, 1}});
  s.refuse({TensorSpec{{0, 3}}, Ints{0}}, "no elements");
}
void sample_places(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, 0});
  s.add({TensorSpec{{2, 3, 4}}, -2, true});
  s.add({TensorSpec{{2, 3}}, SampleArg(), true});
  s.add({TensorSpec{{}}, 0});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}, 0});
  s.refuse({TensorSpec{{2, 0}}, 1}, "no elements");
  s.refuse({TensorSpec{{2, 3}}, 2}, "out of range");
}
void sample_log_sums(Samples& s) {
  s.add({TensorSpec{{2, 3}}, Ints{1}});
  s.add({TensorSpec{{2, 3, 4}, DType::f64, -50, 50}, Ints{0, 2}, true});
  s.add({TensorSpec{{5}, DType::bf16}, Ints{0}});
  s.add({TensorSpec{{4}, DType::i64, -9, 9}, Ints{0}});
  s.add({TensorSpec{{}}, Ints{0}});
  s.add({TensorSpec{{0, 3}}, Ints{0}});
  s.refuse({TensorSpec{{2, 3}}, Ints{2}}, "out of range");
}
void sample_truths(Samples& s) {
  const TensorSpec booleans{{2, 3}, DType::boolean, 0, 1};
  s.add({booleans});
  s.add({booleans, Ints{1}});
  s.add({booleans, Ints{0}, true});
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 1}, Ints{1}});
  s.add({TensorSpec{{0, 3}, DType::boolean, 0, 1}});
  s.add({TensorSpec{{}}});
  s.refuse({booleans, Ints{5}}, "out of range");
}

constexpr OpRow kRows[] = {
    composite("sum(tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor", CastPolicy::fp32,
              "Sum over dim; booleans and integers give i64 unless a dtype is given.", sum, sample_sums, kReduction),
    composite("mean(tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor", CastPolicy::none,
              "Mean over dim.", mean, sample_means, kReduction, {.vjp = mean_vjp}),
    composite("var(tensor input, int[]? dim=None, float? correction=1, bool keepdim=False) -> tensor", CastPolicy::none,
              "Sum of squared distances from the mean over dim, divided by the count less correction.", var,
              sample_variances, kReduction, {.vjp = var_vjp}),
    composite("amax(tensor input, int[]? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
              "Maximum over dim; NaN if any is. Elements that share it share its gradient.", extremum<true>,
              sample_extrema, kReduction),
    composite("amin(tensor input, int[]? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
              "Minimum over dim; NaN if any is. Elements that share it share its gradient.", extremum<false>,
              sample_extrema, kReduction),
    composite("argmax(tensor input, int? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
              "Index of the first maximum along dim, or among all elements in row-major order.", argmax, sample_places,
              kReduction),
    composite("logsumexp(tensor input, int[] dim, bool keepdim=False) -> tensor", CastPolicy::fp32,
              "log(sum(exp(input))) over dim, without overflow.", logsumexp, sample_log_sums, kReduction,
              {.vjp = logsumexp_vjp}),
    composite(
        "all(tensor input, int[]? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
        "Whether all elements over dim are nonzero.", [](Call& c) { return reduce_booleans(c, "prims.amin"); },
        sample_truths, kReduction),
    composite(
        "any(tensor input, int[]? dim=None, bool keepdim=False) -> tensor", CastPolicy::none,
        "Whether any element over dim is nonzero.", [](Call& c) { return reduce_booleans(c, "prims.amax"); },
        sample_truths, kReduction),
};

}  // namespace

extern const OpRows reduce_ops = kRows;

}  // namespace thunder
