// Norms, deviations, and reductions that leave NaN or zeros out.
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

// ---- var and std ----

Var sqrt_of_variance(Var variance) { return sqrt(variance); }
Results std_op(Call& c) {
  require_real(c);
  Var variance = c.builder.call("var", {computed(c.var(0)), c.args[1], c.args[2], c.args[3]});
  return convert(sqrt_of_variance(variance), c.type(0).dtype);
}
// The gradient is 0 where the deviation is 0, as in PyTorch.
void std_vjp(Grad& g) {
  Var x = computed(g.var(0)), y = computed(g.result()), dy = computed(g.cotangent());
  const Shape axes = g.axes(1, x.rank());
  Shape kept = x.shape(), sizes;
  for (Dim d : axes) sizes.push_back(kept[static_cast<size_t>(d.value())]), kept[static_cast<size_t>(d.value())] = 1;
  Var freedom = maximum(count(x, sizes) - (g.has(2) ? g.real(2) : 1), 0.0);
  Var slope = where(eq(y, 0.0), 0.0, dy / where(eq(y, 0.0), 1.0, y)) / freedom;
  g.add(0, (x - mean_kept(x, axes)) * reshape_to(slope, kept));
}
template <bool root>
Results decompose_with_mean(Call& c) {
  require_real(c);
  Var spread = c.builder.call(root ? "std" : "var", {c.var(0), c.args[1], c.args[2], c.args[3]});
  return {spread.id, c.builder.call("mean", {c.var(0), c.args[1], c.args[3]}).id};
}

// ---- norms ----

Var sum_of(Var x, const Arg& dims, bool keepdim) { return x.builder->call("sum", {x, dims, keepdim}); }

// The norm of order p; for infinite orders the largest and the smallest absolute value.
Var norm_of(Var x, double p, const Arg& dims, bool keepdim) {
  Builder& b = *x.builder;
  if (p == 2) return sqrt(sum_of(x * x, dims, keepdim));
  if (p == 0) return sum_of(convert(ne(x, 0.0), x.dtype()), dims, keepdim);
  if (p == 1) return sum_of(abs(x), dims, keepdim);
  if (std::isinf(p)) return b.call(p > 0 ? "amax" : "amin", {abs(x), dims, keepdim});
  return b.call("pow", {sum_of(b.call("pow", {abs(x), p}), dims, keepdim), 1 / p});
}
// The norm of one element is its absolute value, without powers, for every order but 0, which counts.
double simplify_order(const Shape& shape, std::span<const Dim> axes, double p) {
  const auto single = [&](Dim axis) { return shape[static_cast<size_t>(axis.value())] == Dim(1); };
  return p != 0 && std::all_of(axes.begin(), axes.end(), single) ? 1 : p;
}
Results norm(Call& c) {
  const DType dtype = c.dtype(4, c.type(0).dtype);
  const Shape& shape = c.type(0).shape;
  c.require(is_real(dtype), "input must be real, got ", name(c.type(0)));
  const double p = simplify_order(shape, c.axes(2, shape.size()), c.has(1) ? c.real(1) : 2);
  return convert(norm_of(convert(c.var(0), compute_dtype(dtype)), p, c.args[2], c.flag(3)), dtype);
}
// The gradient is 0 where the norm is 0.
void norm_vjp(Grad& g) {
  const Shape& shape = g.type(0).shape;
  const double p = simplify_order(shape, g.axes(2, shape.size()), g.has(1) ? g.real(1) : 2);
  if (p == 0) return;
  if (p == 1 || std::isinf(p)) return g.descend();
  Var dy = computed(g.cotangent()), x = convert(g.var(0), dy.dtype()), y = computed(g.result());
  Shape kept = x.shape();
  for (Dim d : g.axes(2, x.rank())) kept[static_cast<size_t>(d.value())] = 1;
  Var none = eq(y, 0.0), safe = where(none, 1.0, y);
  Var slope = reshape_to(where(none, 0.0, p == 2 ? dy / safe : dy * g.builder.call("pow", {safe, 1 - p})), kept);
  if (p == 2) return g.add(0, x * slope);
  Var zero = eq(x, 0.0), size = abs(where(zero, 1.0, x));
  g.add(0, where(zero, 0.0, x * g.builder.call("pow", {size, p - 2})) * slope);
}
Results dist(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  return c.builder.call("norm", {v[0] - v[1], c.real(2)});
}
// The input by its norm, which is at least eps.
Results normalize(Call& c) {
  require_real(c);
  Var x = computed(c.var(0));
  Var size = c.builder.call("norm", {x, c.real(1), c.dims(2), true});
  return convert(x / maximum(size, c.real(3)), c.type(0).dtype);
}
// Sub-tensors along dim, scaled down to a norm of at most maxnorm.
Results renorm(Call& c) {
  require_real(c);
  Var x = computed(c.var(0));
  c.require(x.rank() >= 2, "input must have at least two dims; ", c.types());
  Var size = c.builder.call("norm", {x, c.real(1), all_but(c.axis(2, x.rank()), x.rank()), true});
  return convert(x * where(gt(size, c.real(3)), c.real(3) / (size + 1e-7), 1.0), c.type(0).dtype);
}
Results cosine_similarity(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  const DType dtype = v[0].dtype();
  Var a = computed(v[0]), b = computed(v[1]);
  const Shape dim{c.integer(2)};
  const auto size = [&](Var x) { return maximum(c.builder.call("norm", {x, 2.0, dim, true}), c.real(3)); };
  return convert(c.builder.call("sum", {a / size(a) * (b / size(b)), dim}), dtype);
}
Results pairwise_distance(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  return c.builder.call("norm", {v[0] - v[1] + c.real(3), c.real(2), Shape{-1}, c.flag(4)});
}

// ---- what is left out ----

Var replace_nan_by_zero(Var x) { return is_real(x.dtype()) ? where(isnan(x), 0.0, x) : x; }
Results nansum(Call& c) {
  return c.builder.call("sum", {replace_nan_by_zero(c.var(0)), c.args[1], c.args[2], c.args[3]});
}
Results nanmean(Call& c) {
  require_real(c);
  Var x = computed(c.var(0)), numbers = convert(apply(Prim::eq, x, x), x.dtype());
  Var mean = sum_of(replace_nan_by_zero(x), c.args[1], c.flag(2)) / sum_of(numbers, c.args[1], c.flag(2));
  return convert(mean, c.dtype(3, c.type(0).dtype));
}
Results count_nonzero(Call& c) {
  return sum_of(convert(convert(c.var(0), DType::boolean), DType::i64), c.args[1], false);
}

// ---- samples ----

void sample_spreads(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{1}});
  s.add({TensorSpec{{2, 3, 4}, DType::f64}, Ints{0, -1}, 0, true});
  s.add({TensorSpec{{5}, DType::bf16}, Ints{0}});
  s.refuse({TensorSpec{{2, 3}, DType::i64, -9, 9}}, "real");
}
void sample_norms(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  for (double p : {1.0, 3.0, 1.5, kInfinity, -kInfinity}) s.add({TensorSpec{{2, 3}}, p, Ints{1}, true});
  s.add_without_gradient({TensorSpec{{2, 3}}, 0.0, Ints{0}});
  s.add({TensorSpec{{5}, DType::bf16}, 2.0});
  s.add({TensorSpec{{5, 1}}, 50.0, Ints{1}});
  s.refuse({TensorSpec{{2}, DType::i64, 0, 9}}, "real");
}
void sample_distances(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, 3.0});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}
void sample_normalized(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3, 2}}, 3.0, Ints{-1}});
  s.add({TensorSpec{{5, 2}, DType::bf16}});
}
void sample_similarities(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3, 2}}, TensorSpec{{2, 1, 2}}, -1});
}
void sample_pairs(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}, 1.0, 1e-6, true});
}
void sample_sums(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3, 4}}, Ints{1}, true});
}
void sample_counted(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 2}});
  s.add({TensorSpec{{2, 3}, DType::boolean, 0, 1}, Ints{0}});
}
void sample_scaled(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 2.0, 0, 1.0});
  s.add({TensorSpec{{3, 4}}, 1.0, 1, 100.0});
}

constexpr OpRow kRows[] = {
    composite("std(tensor input, int[]? dim=None, float? correction=1, bool keepdim=False) -> tensor", CastPolicy::none,
              "The root of var.", std_op, sample_spreads, 0, {.vjp = std_vjp}),
    composite("std_mean(tensor input, int[]? dim=None, float? correction=1, bool keepdim=False) -> (tensor, tensor)",
              CastPolicy::none, "std and mean over dim.", decompose_with_mean<true>, sample_spreads),
    composite("var_mean(tensor input, int[]? dim=None, float? correction=1, bool keepdim=False) -> (tensor, tensor)",
              CastPolicy::none, "var and mean over dim.", decompose_with_mean<false>, sample_spreads),
    composite("norm(tensor input, float? p=2.0, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor",
              CastPolicy::fp32,
              "The p-norm over dim: the p-th root of the sum of |input| ** p; the largest |input| for infinity.", norm,
              sample_norms, 0, {.vjp = norm_vjp}),
    composite("dist(tensor input, tensor other, float p=2) -> tensor", CastPolicy::fp32, "The p-norm of input - other.",
              dist, sample_distances),
    composite("normalize(tensor input, float p=2.0, int[] dim=[1], float eps=1e-12) -> tensor", CastPolicy::fp32,
              "input divided by its p-norm over dim, or by eps if that is larger.", normalize, sample_normalized),
    composite("renorm(tensor input, float p, int dim, float maxnorm) -> tensor", CastPolicy::fp32,
              "Each sub-tensor along dim scaled down to a p-norm of at most maxnorm.", renorm, sample_scaled),
    composite("cosine_similarity(tensor x1, tensor x2, int dim=1, float eps=1e-08) -> tensor", CastPolicy::fp32,
              "The cosine of the angle between vectors along dim.", cosine_similarity, sample_similarities),
    composite("pairwise_distance(tensor x1, tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> tensor",
              CastPolicy::none, "The p-norms of x1 - x2 + eps over the last dim.", pairwise_distance, sample_pairs),
    composite("nansum(tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor",
              CastPolicy::none, "sum of what is not NaN.", nansum, sample_sums),
    composite("nanmean(tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None) -> tensor",
              CastPolicy::none, "mean of what is not NaN.", nanmean, sample_sums),
    composite("count_nonzero(tensor input, int[]? dim=None) -> tensor", CastPolicy::none,
              "How many elements over dim are not zero.", count_nonzero, sample_counted, 0,
              {.nondiff = "the result counts"}),
};

}  // namespace

extern const OpRows statistics_ops = kRows;

}  // namespace thunder
