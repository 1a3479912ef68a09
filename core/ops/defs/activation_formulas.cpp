// Activation functions as formulas, whose gradients are those of their decompositions.
#include "ops/grad.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// min(x, 0), as the argument of exponentials, which then do not overflow.
Var min_with_zero(Var x) {
  return where(gt(x, 0.0), 0.0, x);
}
Var clamp_with_where(Var x, double low, double high) {
  return where(le(x, low), low, where(ge(x, high), high, x));
}
Var silu_of(Var x) {
  return x * logistic(x);
}

// Linear above zero, exponential below.
Var elu_of(Var x, double alpha, double scale, double width) {
  return where(gt(x, 0.0), x * scale, expm1(min_with_zero(x) / width) * (alpha * scale));
}
Var elu(const Call& c, Var x) {
  return elu_of(x, c.real(1), 1, 1);
}
Var celu(const Call& c, Var x) {
  c.require(c.real(1) != 0, "alpha must not be 0");
  return elu_of(x, c.real(1), 1, c.real(1));
}
Var selu(Var x) {
  return elu_of(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

// Integers are clamped as integers. What equals a bound stays what it is, -0.0 too, and has no gradient, as in PyTorch.
Results clamp_to_bounds(Call& c, double low, double high) {
  Var x = c.var(0);
  if (is_integer(x.dtype())) return c.builder.call("clamp", {x, static_cast<int64_t>(low), static_cast<int64_t>(high)});
  const DType dtype = to_real(x.dtype());
  Var v = computed(convert(x, dtype));
  return convert(where(lt(v, low), low, where(gt(v, high), high, v)), dtype);
}
void pass_between(Grad& g, double low, double high) {
  Var x = computed(g.var(0));
  g.add(0, where(either(le(x, low), ge(x, high)), 0.0, g.cotangent()));
}
Results relu6(Call& c) {
  return clamp_to_bounds(c, 0, 6);
}
void relu6_vjp(Grad& g) {
  pass_between(g, 0, 6);
}
void hardtanh_vjp(Grad& g) {
  pass_between(g, g.real(1), g.real(2));
}
Results hardtanh(Call& c) {
  c.require(c.real(1) <= c.real(2), "min_val must not exceed max_val, got ", c.real(1), " and ", c.real(2));
  const bool fits = std::abs(c.real(1)) < 0x1p62 && std::abs(c.real(2)) < 0x1p62;
  const DType dtype = c.type(0).dtype;
  c.require(fits || !is_integer(dtype), "min_val and max_val must fit ", name(dtype));
  c.require(c.real(1) >= 0 || !is_integer(dtype) || is_signed(dtype), "min_val must not be negative for ", name(dtype),
            ", got ", c.real(1));
  return clamp_to_bounds(c, c.real(1), c.real(2));
}
Var hardsigmoid(Var x) {
  return clamp_with_where(x / 6.0 + 0.5, 0, 1);
}
Var hardswish(Var x) {
  return x * clamp_with_where(x + 3.0, 0, 6) / 6.0;
}
Var hardshrink(const Call& c, Var x) {
  return where(both(ge(x, -c.real(1)), le(x, c.real(1))), 0.0, x);
}
Var softshrink(const Call& c, Var x) {
  const double l = c.real(1);
  c.require(l >= 0, "lambd must not be negative, got ", l);
  return where(gt(x, l), x - l, where(lt(x, -l), x + l, x * 0.0));
}
Var softplus(const Call& c, Var x) {
  Var z = x * c.real(1);
  return where(gt(z, c.real(2)), x, softplus_of(z) / c.real(1));
}
Results threshold(Call& c) {
  Var x = c.var(0);
  const DType dtype = x.dtype();
  return convert(where(le(x, number_in(c, 1, dtype)), number_in(c, 2, dtype), x), dtype);
}

// ---- gates: halves of a dim ----

// Splits the input in halves and multiplies one by a function of the other.
template <auto gate, size_t gated>
Results multiply_gated_halves(Call& c) {
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  c.require(x.rank() > 0, "input must have at least one dim");
  const size_t dim = c.axis(1, x.rank());
  const int64_t n = hint(x.shape()[dim]);
  c.require(n % 2 == 0, "dim ", c.integer(1), " must have an even size, got ", name(x.type()));
  Var half[2];
  for (int64_t i = 0; i < 2; i++)
    half[i] = computed(c.builder.call("slice", {x, static_cast<int64_t>(dim), i * (n / 2), (i + 1) * (n / 2), 1}));
  return convert(half[1 - gated] * gate(half[gated]), x.dtype());
}
Results prelu(Call& c) {
  Var x = c.var(0), w = c.var(1);
  c.require(is_real(x.dtype()) && w.dtype() == x.dtype(), "input and weight must be real and of one dtype; ",
            c.types());
  c.require(w.rank() <= 1, "weight must be a vector; ", c.types());
  const Dim n = elements(w.shape());
  if (!(n == Dim(1))) {
    c.require(x.rank() >= 1 && x.size(x.rank() > 1 ? 1 : 0) == n,
              "weight must have one element or one for each channel; ", c.types());
    w = along_axis(w, x.rank() > 1 ? 1 : 0, x.rank());
  } else {
    w = reshape_to(w, Shape{});
  }
  return where(gt(x, 0.0), x, w * x);
}
Results rrelu(Call& c) {
  const double low = c.real(1), high = c.real(2);
  c.require(low <= high, "lower must not exceed upper, got ", low, " and ", high);
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  if (!c.flag(3)) return where(gt(x, 0.0), x, x * ((low + high) / 2));
  return where(gt(x, 0.0), x, x * c.builder.call("uniform", {x.shape(), low, high, x.dtype(), x.type().device}));
}
// Pairs (i, i + half) of the last dim turned by angles, whose cosines and sines are given: rotary position embedding.
Results rope(Call& c) {
  auto v = promoted(c, {0, 1, 2});
  const DType dtype = v[0].dtype();
  Var x = computed(v[0]);
  c.require(x.rank() > 0 && hint(x.size(-1)) % 2 == 0, "the last dim must have an even size; ", c.types());
  const int64_t n = hint(x.size(-1));
  Var low = c.builder.call("slice", {x, -1, 0, n / 2, 1}), high = c.builder.call("slice", {x, -1, n / 2, n, 1});
  Var turned = c.builder.call("cat", {ValueList{(-high).id, low.id}, -1});
  return convert(x * computed(v[1]) + turned * computed(v[2]), dtype);
}

// ---- samples ----

void sample_reals(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{7}, DType::f32, -8, 8}});
  s.add({TensorSpec{{}, DType::f64}});
  s.add({TensorSpec{{0, 3}}});
  s.add({TensorSpec{{5}, DType::bf16}});
}
template <int a, int b = 0>
void sample_with_option(Samples& s) {
  sample_reals(s);
  s.add({TensorSpec{{7}, DType::f32, -4, 4}, a / 4.0});
  if (b) s.add({TensorSpec{{7}, DType::f32, -4, 4}, a / 4.0, b / 4.0});
}
void sample_reals_and_integers(Samples& s) {
  sample_reals(s);
  s.add({TensorSpec{{5}, DType::i64, -9, 9}});
}
void sample_thresholds(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 0.25, -3.0});
}
void sample_gated(Samples& s) {
  s.add({TensorSpec{{2, 6}}});
  s.add({TensorSpec{{4, 3}}, 0});
  s.add({TensorSpec{{6}, DType::bf16}});
  s.refuse({TensorSpec{{2, 3}}}, "even size");
}
void sample_slopes(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{1}}});
  s.add({TensorSpec{{2, 3, 2}}, TensorSpec{{3}}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2}}}, "each channel");
}
void sample_ropes(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{3, 4}}, TensorSpec{{3, 4}}});
  s.refuse({TensorSpec{{3}}, TensorSpec{{3}}, TensorSpec{{3}}}, "even size");
}

template <auto formula>
consteval OpRow row(SchemaText schema, CastPolicy autocast, std::string_view doc, SamplesFn samples = sample_reals) {
  return composite(schema, autocast, doc, real_formula<formula>, samples, kInplace);
}

constexpr OpRow kRows[] = {
    composite("relu6(tensor input) -> tensor", CastPolicy::none, "The input limited to [0, 6].", relu6,
              sample_reals_and_integers, kInplace, {.vjp = relu6_vjp}),
    row<elu>("elu(tensor input, float alpha=1.0) -> tensor", CastPolicy::none,
             "The input where it is positive, else alpha * (exp(input) - 1).", sample_with_option<3>),
    row<celu>("celu(tensor input, float alpha=1.0) -> tensor", CastPolicy::none,
              "The input where it is positive, else alpha * (exp(input / alpha) - 1).", sample_with_option<3>),
    row<selu>("selu(tensor input) -> tensor", CastPolicy::none, "elu, scaled so that means and variances stay."),
    composite("hardtanh(tensor input, float min_val=-1.0, float max_val=1.0) -> tensor", CastPolicy::none,
              "The input limited to [min_val, max_val].", hardtanh, sample_with_option<-3, 5>, kInplace,
              {.vjp = hardtanh_vjp}),
    row<hardsigmoid>("hardsigmoid(tensor input) -> tensor", CastPolicy::none, "input / 6 + 1/2, limited to [0, 1]."),
    row<hardswish>("hardswish(tensor input) -> tensor", CastPolicy::none, "input * hardsigmoid(input)."),
    row<hardshrink>("hardshrink(tensor input, float lambd=0.5) -> tensor", CastPolicy::none,
                    "0 in [-lambd, lambd], else the input.", sample_with_option<3>),
    row<softshrink>("softshrink(tensor input, float lambd=0.5) -> tensor", CastPolicy::none,
                    "The input drawn towards 0 by lambd.", sample_with_option<3>),
    row<[](Var x) { return x - tanh(x); }>("tanhshrink(tensor input) -> tensor", CastPolicy::none,
                                           "input - tanh(input)."),
    row<softplus>("softplus(tensor input, float beta=1.0, float threshold=20.0) -> tensor", CastPolicy::fp32,
                  "log(1 + exp(beta * input)) / beta; the input where beta * input exceeds threshold.",
                  sample_with_option<3, 2>),
    row<[](Var x) { return x / (abs(x) + 1.0); }>("softsign(tensor input) -> tensor", CastPolicy::none,
                                                  "input / (1 + |input|)."),
    row<[](Var x) { return x * tanh(softplus_of(x)); }>("mish(tensor input) -> tensor", CastPolicy::none,
                                                        "input * tanh(softplus(input))."),
    row<[](Var x) { return minimum(x, 0.0) - log1p(exp(-abs(x))); }>(
        "logsigmoid(tensor input) -> tensor", CastPolicy::none, "log(sigmoid(input)) without its underflow."),
    composite("threshold(tensor input, float threshold, float value) -> tensor", CastPolicy::none,
              "The input where it exceeds threshold, else value.", threshold, sample_thresholds, kInplace),
    composite("glu(tensor input, int dim=-1) -> tensor", CastPolicy::none,
              "The first half of dim times the sigmoid of the second.", multiply_gated_halves<logistic, 1>,
              sample_gated),
    composite("swiglu(tensor input, int dim=-1) -> tensor", CastPolicy::none,
              "silu of the first half of dim times the second.", multiply_gated_halves<silu_of, 0>, sample_gated),
    composite("prelu(tensor input, tensor weight) -> tensor", CastPolicy::lower_precision_fp,
              "The input where it is positive, else weight times it: one weight, or one a channel.", prelu,
              sample_slopes),
    composite("rrelu(tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> tensor",
              CastPolicy::none, "leaky_relu of the mean slope, or of slopes that are drawn when training.", rrelu,
              sample_reals, kRandom),
    composite("rope(tensor input, tensor cos, tensor sin) -> tensor", CastPolicy::none,
              "input * cos + rotated * sin, where rotated is the last dim's second half negated, then its first.", rope,
              sample_ropes),
};

}  // namespace

extern const OpRows activation_formulas_ops = kRows;

}  // namespace thunder
