// layer_norm and rms_norm: rows scaled by statistics of their own, and their gradients.
#include <limits>

#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// Checks the input and the shapes that must agree with its last dims; gives these as axes.
Shape normalized_axes(const Call& c, size_t input, size_t shape, std::initializer_list<size_t> parameters) {
  const TensorType& x = c.type(input);
  auto dims = c.dims(shape);
  c.require(is_real(x.dtype), "input must be real; ", c.types());
  bool fits = !dims.empty() && dims.size() <= x.rank();
  for (size_t i = 0; fits && i < dims.size(); i++) fits = x.shape[x.rank() - dims.size() + i] == dims[i];
  c.require(fits, "normalized_shape must be the last dims of input, got ", name(dims), "; input is ", name(x));
  for (size_t p : parameters)
    if (c.has(p))
      c.require(c.type(p).shape == Shape(dims), c.op.schema.params[p].name, " must have shape ", name(dims), ", got ",
                name(c.type(p).shape), "; ", c.types());
  return last_axes(dims.size(), x.rank());
}

// The gradient for an absent parameter.
Var zero_scalar(const Call& c) { return full(c.builder, {}, 0, DType::f32, c.type(0).device); }

// The input normalized over `axes`, and the factor that it was multiplied by.
struct Standard {
  Var x, scale;
};
Standard standardise(Var x, const Shape& axes, double eps) {
  x = computed(x);
  Var mean = mean_kept(x, axes);
  Var scale = rsqrt(variance_kept(x, mean, axes) + eps);
  return {(x - mean) * scale, scale};
}

// ---- layer_norm ----

Results layer_norm(Call& c) {
  const Shape axes = normalized_axes(c, 0, 1, {2, 3});
  Var y = standardise(c.var(0), axes, c.real(4)).x;
  if (c.has(2)) y = y * computed(c.var(2));
  if (c.has(3)) y = y + computed(c.var(3));
  return convert(y, c.type(0).dtype);
}

// grad, input, normalized_shape, weight, bias, eps
Results layer_norm_backward(Call& c) {
  const Shape axes = normalized_axes(c, 1, 2, {3, 4});
  c.require(c.type(0).shape == c.type(1).shape, "grad and input must have one shape; ", c.types());
  Standard s = standardise(c.var(1), axes, c.real(5));
  Var dy = computed(c.var(0));
  Var dx = c.has(3) ? dy * computed(c.var(3)) : dy;
  // Standardising ignores shifts and scales of a row: the gradient has neither component.
  dx = s.scale * (dx - mean_kept(dx, axes) - s.x * mean_kept(dx * s.x, axes));
  Var dw = c.has(3) ? convert(sum_to(dy * s.x, c.dims(2)), c.type(3).dtype) : zero_scalar(c);
  Var db = c.has(4) ? convert(sum_to(dy, c.dims(2)), c.type(4).dtype) : zero_scalar(c);
  return {convert(dx, c.type(1).dtype).id, dw.id, db.id};
}

void layer_norm_vjp(Grad& g) {
  Results d =
      g.builder.results("layer_norm_backward", {g.cotangent(), g.var(0), g.dims(1), g.var(2), g.var(3), g.real(4)});
  g.add(0, g.builder.var(d[0]));
  if (g.has(2)) g.add(2, g.builder.var(d[1]));
  if (g.has(3)) g.add(3, g.builder.var(d[2]));
}

// ---- rms_norm ----

// The default eps is that of the type in which the norm is computed.
double default_eps(const Call& c, size_t eps, size_t input) {
  if (c.has(eps)) return c.real(eps);
  return c.type(input).dtype == DType::f64 ? std::numeric_limits<double>::epsilon()
                                           : std::numeric_limits<float>::epsilon();
}

Standard divide_by_rms(Var x, const Shape& axes, double eps) {
  x = computed(x);
  Var scale = rsqrt(mean_kept(x * x, axes) + eps);
  return {x * scale, scale};
}

Results rms_norm(Call& c) {
  const Shape axes = normalized_axes(c, 0, 1, {2});
  Var y = divide_by_rms(c.var(0), axes, default_eps(c, 3, 0)).x;
  if (c.has(2)) y = y * computed(c.var(2));
  return convert(y, c.type(0).dtype);
}

// grad, input, normalized_shape, weight, eps
Results rms_norm_backward(Call& c) {
  const Shape axes = normalized_axes(c, 1, 2, {3});
  c.require(c.type(0).shape == c.type(1).shape, "grad and input must have one shape; ", c.types());
  Standard s = divide_by_rms(c.var(1), axes, default_eps(c, 4, 1));
  Var dy = computed(c.var(0));
  Var dx = c.has(3) ? dy * computed(c.var(3)) : dy;
  dx = s.scale * (dx - s.x * mean_kept(dx * s.x, axes));
  Var dw = c.has(3) ? convert(sum_to(dy * s.x, c.dims(2)), c.type(3).dtype) : zero_scalar(c);
  return {convert(dx, c.type(1).dtype).id, dw.id};
}

void rms_norm_vjp(Grad& g) {
  Results d = g.builder.results("rms_norm_backward", {g.cotangent(), g.var(0), g.dims(1), g.var(2), g.args[3]});
  g.add(0, g.builder.var(d[0]));
  if (g.has(2)) g.add(2, g.builder.var(d[1]));
}

// ---- samples ----

using Sizes64 = std::vector<int64_t>;
void layer_norm_samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, Sizes64{5}});
  s.add({TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{5}}, TensorSpec{{5}}});
  s.add({TensorSpec{{2, 3, 4}}, Sizes64{3, 4}, TensorSpec{{3, 4}}, SampleArg(), 1e-3});
  s.add({TensorSpec{{4, 5}, DType::bf16}, Sizes64{5}, TensorSpec{{5}, DType::bf16}, TensorSpec{{5}, DType::bf16}});
  s.add({TensorSpec{{0, 5}}, Sizes64{5}, TensorSpec{{5}}, TensorSpec{{5}}});
  s.refuse({TensorSpec{{4, 5}}, Sizes64{4}}, "normalized_shape must be the last dims of input, got [4]");
  s.refuse({TensorSpec{{4, 5}}, Sizes64{}}, "normalized_shape");
  s.refuse({TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{4}}}, "weight must have shape [5], got [4]");
  s.refuse({TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{5}}, TensorSpec{{1}}}, "bias must have shape [5], got [1]");
  s.refuse({TensorSpec{{4, 5}, DType::i64, 0, 9}, Sizes64{5}}, "must be real");
}
void layer_norm_backward_samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{5}}, TensorSpec{{5}}, 1e-5});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{2, 3, 4}}, Sizes64{3, 4}, SampleArg(), SampleArg(), 1e-3});
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{3, 5}}, Sizes64{5}, SampleArg(), SampleArg(), 1e-5}, "one shape");
}
void rms_norm_samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, Sizes64{5}});
  s.add({TensorSpec{{4, 5}, DType::f64}, Sizes64{5}, TensorSpec{{5}, DType::f64}});
  s.add({TensorSpec{{2, 3, 4}}, Sizes64{3, 4}, TensorSpec{{3, 4}}, 1e-3});
  s.add({TensorSpec{{4, 5}, DType::bf16}, Sizes64{5}, TensorSpec{{5}, DType::bf16}});
  s.refuse({TensorSpec{{4, 5}}, Sizes64{4}}, "normalized_shape");
  s.refuse({TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{4}}}, "weight must have shape [5], got [4]");
}
void rms_norm_backward_samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 5}}, Sizes64{5}, TensorSpec{{5}}, 1e-5});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{2, 3, 4}}, Sizes64{3, 4}, SampleArg(), SampleArg()});
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{3, 5}}, Sizes64{5}, SampleArg(), SampleArg()}, "one shape");
}

constexpr OpRow kRows[] = {
    composite("layer_norm(tensor input, int[] normalized_shape, tensor? weight=None, tensor? bias=None, float "
              "eps=1e-05) -> tensor",
              CastPolicy::fp32, "The input standardised over its last dims, then scaled by weight and shifted by bias.",
              layer_norm, layer_norm_samples, 0, {.vjp = layer_norm_vjp}),
    composite("layer_norm_backward(tensor grad, tensor input, int[] normalized_shape, tensor? weight, tensor? "
              "bias, float eps) -> (tensor, tensor, tensor)",
              CastPolicy::none,
              "The gradients of layer_norm's input, weight and bias; a 0-d zero for one that is None.",
              layer_norm_backward, layer_norm_backward_samples, kHidden),
    composite("rms_norm(tensor input, int[] normalized_shape, tensor? weight=None, float? eps=None) -> tensor",
              CastPolicy::fp32, "The input divided by its root mean square over the last dims, then scaled by weight.",
              rms_norm, rms_norm_samples, 0, {.vjp = rms_norm_vjp}),
    composite("rms_norm_backward(tensor grad, tensor input, int[] normalized_shape, tensor? weight, float? "
              "eps) -> (tensor, tensor)",
              CastPolicy::none, "The gradients of rms_norm's input and weight; a 0-d zero for a weight that is None.",
              rms_norm_backward, rms_norm_backward_samples, kHidden),
};

}  // namespace

extern const OpRows layer_norm_ops = kRows;

}  // namespace thunder
