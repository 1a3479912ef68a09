// The activation functions: formulas in f32 for bf16, each with a gradient of its own.
#include <cmath>
#include <numbers>

#include "ops/elementwise.h"

namespace thunder {
namespace {

// Applies f in the type that the input is computed in and rounds once. Integers become f32, as in PyTorch.
template <class F>
Results compute_then_round(Call& c, F f) {
  Var x = c.var(0);
  const DType dtype = to_real(x.dtype());
  return convert(f(computed(convert(x, dtype))), dtype);
}

Var sigmoid_of(Var x) {
  Builder& b = *x.builder;
  return b.call(Prim::reciprocal, {b.call(Prim::exp, {b.call(Prim::neg, {x})}) + 1.0});
}
void sigmoid_vjp(Grad& g) {
  Var y = computed(g.result());
  g.add(0, computed(g.cotangent()) * (y * (1.0 - y)));
}

Results relu(Call& c) {
  Var x = c.var(0);
  c.require(x.dtype() != DType::boolean, "input must not be boolean, got ", name(x.type()));
  return c.builder.call(Prim::maximum, {full_like(x, 0), x});  // of equal ones the second: -0.0 stays
}
// NaN passes the cotangent on, as in PyTorch.
void relu_vjp(Grad& g) {
  Builder& b = g.builder;
  g.add(0, b.call("where", {b.call("le", {g.result(), 0.0}), 0.0, g.cotangent()}));
}

Results silu(Call& c) {
  return compute_then_round(c, [](Var x) { return x * sigmoid_of(x); });
}
void silu_vjp(Grad& g) {
  Var x = computed(g.var(0)), s = sigmoid_of(x);
  g.add(0, computed(g.cotangent()) * (s * (x * (1.0 - s) + 1.0)));
}

// x Phi(x), exactly or with the usual approximation of the normal distribution Phi by (tanh(z) + 1) / 2. That is the
// logistic function of 2 z, which needs fewer instructions and does not cancel where Phi is small.
constexpr double kTanhScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kTanhCubic = 0.044715;
bool uses_tanh_approximation(const Call& c) {
  c.require(c.text(1) == "none" || c.text(1) == "tanh", "approximate must be 'none' or 'tanh', got '", c.text(1), "'");
  return c.text(1) == "tanh";
}
Var approximate_normal_cdf(Var x) {
  return sigmoid_of((x + x * x * x * kTanhCubic) * (2 * kTanhScale));
}
Var divide_by_sqrt2(Var x) { return x * (1 / std::numbers::sqrt2); }
Var normal_cdf(Var x) { return (x.builder->call(Prim::erf, {divide_by_sqrt2(x)}) + 1.0) * 0.5; }

Results gelu(Call& c) {
  const bool tanh = uses_tanh_approximation(c);
  return compute_then_round(c, [=](Var x) { return x * (tanh ? approximate_normal_cdf(x) : normal_cdf(x)); });
}
void gelu_vjp(Grad& g) {
  Var x = computed(g.var(0)), dy = computed(g.cotangent());
  if (uses_tanh_approximation(g)) {
    Var s = approximate_normal_cdf(x);
    Var slope = (x * x * (3 * kTanhCubic) + 1.0) * (2 * kTanhScale);
    return g.add(0, dy * (s * (x * slope * (1.0 - s) + 1.0)));
  }
  Var z = divide_by_sqrt2(x),
      density = g.builder.call(Prim::exp, {-(z * z)}) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  g.add(0, dy * (normal_cdf(x) + x * density));
}

void sample_activations(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{4}, DType::f32, -30, 30}});
  s.add({TensorSpec{{}, DType::f64}});
  s.add({TensorSpec{{0, 3}}});
  s.add({TensorSpec{{5}, DType::bf16}});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}});
}
void gelu_samples(Samples& s) {
  sample_activations(s);
  s.add({TensorSpec{{2, 3}}, "tanh"});
  s.add({TensorSpec{{4}, DType::bf16}, "tanh"});
  s.refuse({TensorSpec{{2}}, "erf"}, "approximate");
}

constexpr OpRow kRows[] = {
    composite("sigmoid(tensor input) -> tensor", CastPolicy::none, "1 / (1 + exp(-input)).",
              [](Call& c) { return compute_then_round(c, sigmoid_of); }, sample_activations, kInplace,
              {.vjp = sigmoid_vjp}),
    composite("relu(tensor input) -> tensor", CastPolicy::none, "The input where it is positive, else 0.", relu,
              sample_activations, kInplace, {.vjp = relu_vjp}),
    composite("silu(tensor input) -> tensor", CastPolicy::none, "input * sigmoid(input).", silu, sample_activations,
              kInplace, {.vjp = silu_vjp}),
    composite("gelu(tensor input, str approximate='none') -> tensor", CastPolicy::none,
              "input times the normal distribution at input, exactly or ('tanh') approximately.", gelu, gelu_samples, 0,
              {.vjp = gelu_vjp}),
};

}  // namespace

extern const OpRows activations_ops = kRows;

}  // namespace thunder
