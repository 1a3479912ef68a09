// Functions of real numbers, as users call them: a formula or a prim each, and its derivative as a formula.
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- exponentials and logarithms near zero: what is rounded away is divided out again (Kahan) ----

Var expm1_of(Var x) {
  Var u = exp(x), v = u - 1.0;
  Var y = where(eq(u, kInfinity), u, v * (x / log(u)));
  return where(eq(u, 1.0), x, where(eq(v, -1.0), v, y));
}
Var log1p_of(Var x) {
  Var u = x + 1.0, d = u - 1.0;
  return where(eq(d, 0.0), x, where(eq(u, kInfinity), u, log(u) * (x / d)));
}

// ---- hyperbolic functions and their inverses: of |x|, with the sign of x ----

// Zeros keep their signs.
Var apply_sign(Var x, Var of_absolute) { return where(gt(x, 0.0), of_absolute, where(lt(x, 0.0), -of_absolute, x)); }
// exp(a) / 2 in two steps, which overflow no earlier than the result.
Var half_exp(Var a) {
  Var h = exp(a * 0.5);
  return h * 0.5 * h;
}
Var sinh_of(Var x) {
  Var a = abs(x), t = expm1(a);
  return apply_sign(x, where(gt(a, 20.0), half_exp(a), (t + t / (t + 1.0)) * 0.5));
}
Var cosh_of(Var x) {
  Var h = half_exp(abs(x));
  return h + 0.25 / h;
}
constexpr double kLarge = 1e8;  // from here on x * x + 1 is x * x
Var asinh_of(Var x) {
  Var a = abs(x), square = a * a;
  return apply_sign(x, where(gt(a, kLarge), log(a) + kLn2, log1p(a + square / (sqrt(square + 1.0) + 1.0))));
}
Var acosh_of(Var x) {
  Var t = x - 1.0;
  return where(gt(x, kLarge), log(x) + kLn2, log1p(t + sqrt(t) * sqrt(x + 1.0)));
}
Var atanh_of(Var x) {
  Var a = abs(x);
  return apply_sign(x, log1p(a * 2.0 / (1.0 - a)) * 0.5);
}

// ---- approximations for f32 and narrower reals, which fuse; f64 takes a prim ----

Var polynomial(Var x, std::span<const double> highest_first) {
  Var y = full_like(x, highest_first[0]);
  for (double c : highest_first.subspan(1)) y = y * x + c;
  return y;
}
// M. Giles, "Approximating the erfinv function" (2010), the one for single precision.
Var erfinv_of(Var x) {
  if (x.dtype() == DType::f64) return apply(Prim::erfinv, x);
  constexpr double kMiddle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double kTails[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                               -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Var w = -log((1.0 - x) * (x + 1.0));
  Var p = where(lt(w, 5.0), polynomial(w - 2.5, kMiddle), polynomial(sqrt(maximum(w, 0.0)) - 3.0, kTails));
  return where(eq(abs(x), 1.0), x * kInfinity, p * x);
}
// A Chebyshev series by Clenshaw's recurrence; the last coefficient counts half.
Var chebyshev(Var x, std::span<const double> highest_first) {
  Var b0 = full_like(x, highest_first[0]), b1 = full_like(x, 0), b2 = b1;
  for (double c : highest_first.subspan(1)) {
    b2 = b1, b1 = b0;
    b0 = x * b1 - b2 + c;
  }
  return (b0 - b2) * 0.5;
}
// exp(-a) i0(a) for a >= 0: S. Moshier's series of Cephes for single precision.
Var scaled_i0(Var a) {
  constexpr double kSmall[] = {
      -1.30002500998624804212e-8, 6.04699502254191894932e-8,  -2.67079385394061173391e-7, 1.11738753912010371815e-6,
      -4.41673835845875056359e-6, 1.64484480707288970893e-5,  -5.75419501008210370398e-5, 1.88502885095841655729e-4,
      -5.76375574538582365885e-4, 1.63947561694133579842e-3,  -4.32430999505057594430e-3, 1.05464603945949983183e-2,
      -2.37374148058994688156e-2, 4.93052842396707084878e-2,  -9.49010970480476444210e-2, 1.71620901522208775349e-1,
      -3.04682672343198398683e-1, 6.76795274409476084995e-1};
  constexpr double kLarge[] = {3.39623202570838634515e-9, 2.26666899049817806459e-8, 2.04891858946906374183e-7,
                               2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
                               8.04490411014108831608e-1};
  Var small = minimum(a, 8.0), large = maximum(a, 8.0);
  return where(le(a, 8.0), chebyshev(small * 0.5 - 2.0, kSmall), chebyshev(32.0 / large - 2.0, kLarge) / sqrt(large));
}
Var i0e_of(Var x) { return x.dtype() == DType::f64 ? apply(Prim::i0e, x) : scaled_i0(abs(x)); }
Var i0_of(Var x) {
  if (x.dtype() == DType::f64) return apply(Prim::i0, x);
  Var a = abs(x), half = exp(a * 0.5);  // twice, which overflows no earlier than the result
  return where(eq(a, kInfinity), a, half * scaled_i0(a) * half);
}

// ---- others ----

// sin(pi x) / (pi x) for x other than 0. The sine is taken of the distance from the nearest integer, so that it is 0 at
// integers.
Var sinc_of(Var x) {
  Var zero = eq(x, 0.0), away = where(zero, 1.0, x), whole = floor(away + 0.5), odd = whole - floor(whole * 0.5) * 2.0;
  return where(zero, 1.0, sin((away - whole) * kPi) * (1.0 - odd * 2.0) / (away * kPi));
}
Results logit(Call& c) {
  Var x = c.var(0);
  const DType dtype = to_real(x.dtype());
  x = computed(convert(x, dtype));
  if (c.has(1)) x = clamped(x, c.real(1), 1 - c.real(1));
  return convert(log(x / (1.0 - x)), dtype);
}
// Beyond the limits there is no slope; without limits, outside of [0, 1] there is no number.
void logit_vjp(Grad& g) {
  Var x = computed(g.var(0)), slope = computed(g.cotangent()) / (x * (1.0 - x));
  const bool limited = g.has(1);
  const double eps = limited ? g.real(1) : 0;
  Var outside = either(lt(x, eps), gt(x, 1 - eps));
  g.add(0, where(outside, limited ? 0.0 : std::numeric_limits<double>::quiet_NaN(), slope));
}
Var entr_of(Var x) { return where(lt(x, 0.0), -kInfinity, where(eq(x, 0.0), 0.0, -(x * log(x)))); }
Var ndtr_of(Var x) { return apply(Prim::erfc, x * (-1 / std::numbers::sqrt2)) * 0.5; }
Results polygamma(Call& c) {
  Var x = c.var(1);
  return c.builder.call(Prim::polygamma, {c.integer(0), convert(x, to_real(x.dtype()))});
}
Results mvlgamma(Call& c) {
  Var x = c.var(0);
  const auto p = static_cast<double>(c.integer(1));
  c.require(p >= 1 && p < 1000, "p must be between 1 and 999, got ", c.integer(1));
  const DType dtype = to_real(x.dtype());
  x = computed(convert(x, dtype));
  Var sum = full_like(x, p * (p - 1) / 4 * std::log(kPi));
  for (double j = 0; j < p; j++) sum = sum + apply(Prim::lgamma, x - j / 2);
  return convert(sum, dtype);
}

constexpr auto d_tan = [](Var y) { return y * y + 1.0; };
constexpr auto d_exp2 = [](Var y) { return y * kLn2; };
constexpr auto d_expm1 = [](Var y) { return y + 1.0; };
constexpr auto d_log1p = [](Var x) { return 1.0 / (x + 1.0); };
constexpr auto d_sinh = [](Var x) { return cosh_of(x); };
constexpr auto d_cosh = [](Var x) { return sinh_of(x); };
constexpr auto d_asinh = [](Var x) { return apply(Prim::rsqrt, x * x + 1.0); };
constexpr auto d_acosh = [](Var x) { return apply(Prim::rsqrt, (x - 1.0) * (x + 1.0)); };
constexpr auto d_atanh = [](Var x) { return 1.0 / ((1.0 - x) * (x + 1.0)); };
constexpr auto d_erfinv = [](Var y) { return exp(y * y) * (0.5 / std::numbers::inv_sqrtpi); };
constexpr auto d_i0 = [](Var x) { return apply("i1", x); };
constexpr auto d_i0e = [](Var x) { return apply("i1e", x) - sign(x) * i0e_of(x); };
constexpr auto d_entr = [](Var x) { return -(log(x) + 1.0); };
constexpr auto d_ndtr = [](Var x) { return exp(x * x * -0.5) * (1 / std::sqrt(2 * kPi)); };

// ---- samples: inside of a function's domain ----

template <int low, int high, int per = 1>
void sample_within(Samples& s) {
  const double a = double(low) / per, b = double(high) / per;
  s.add({TensorSpec{{2, 3}, DType::f32, a, b}});
  s.add({TensorSpec{{}, DType::f64, a, b}});
  s.add({TensorSpec{{0, 3}, DType::f32, a, b}});
  s.add({TensorSpec{{5}, DType::bf16, a, b}});
  if (std::ceil(a) <= std::floor(b)) s.add({TensorSpec{{2, 3}, DType::i64, std::ceil(a), std::floor(b)}});
}
template <int low, int high, int per>
void logit_samples(Samples& s) {
  sample_within<low, high, per>(s);
  s.add({TensorSpec{{4}, DType::f32, 0.3, 0.7}, 0.1});
}
void sample_polygammas(Samples& s) {
  for (int n : {0, 1, 2, 5}) s.add({n, TensorSpec{{2, 3}, DType::f32, 0.5, 4}});
  s.refuse({-1, TensorSpec{{2}, DType::f32, 1, 2}}, "between 0 and 169");
}
void sample_mvlgammas(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::f32, 3, 9}, 3});
  s.refuse({TensorSpec{{2}, DType::f32, 3, 9}, 0}, "between 1");
}

// A composite of one prim of the same name, which has the gradient.
consteval OpRow prim(SchemaText schema, CastPolicy autocast, std::string_view doc, SamplesFn samples) {
  return composite(schema, autocast, doc, unary_prim<true>, samples, kInplace);
}

constexpr OpRow kRows[] = {
    composite("tan(tensor input) -> tensor", CastPolicy::fp32, "The tangent of radians.",
              real_formula<[](Var x) { return sin(x) / cos(x); }>, sample_within<-1, 1>, kInplace,
              {.vjp = slope_of_result<d_tan>}),
    prim("asin(tensor input) -> tensor", CastPolicy::fp32, "The angle in [-pi/2, pi/2] whose sine is the input.",
         sample_within<-9, 9, 10>),
    prim("acos(tensor input) -> tensor", CastPolicy::fp32, "The angle in [0, pi] whose cosine is the input.",
         sample_within<-9, 9, 10>),
    prim("atan(tensor input) -> tensor", CastPolicy::none, "The angle in [-pi/2, pi/2] whose tangent is the input.",
         sample_within<-4, 4>),
    composite("sinh(tensor input) -> tensor", CastPolicy::fp32, "The hyperbolic sine.", real_formula<sinh_of>,
              sample_within<-4, 4>, kInplace, {.vjp = slope_of_input<d_sinh>}),
    composite("cosh(tensor input) -> tensor", CastPolicy::fp32, "The hyperbolic cosine.", real_formula<cosh_of>,
              sample_within<-4, 4>, kInplace, {.vjp = slope_of_input<d_cosh>}),
    composite("asinh(tensor input) -> tensor", CastPolicy::none, "The number whose hyperbolic sine is the input.",
              real_formula<asinh_of>, sample_within<-4, 4>, kInplace, {.vjp = slope_of_input<d_asinh>}),
    composite("acosh(tensor input) -> tensor", CastPolicy::none, "The number whose hyperbolic cosine is the input.",
              real_formula<acosh_of>, sample_within<3, 9, 2>, kInplace, {.vjp = slope_of_input<d_acosh>}),
    composite("atanh(tensor input) -> tensor", CastPolicy::none, "The number whose hyperbolic tangent is the input.",
              real_formula<atanh_of>, sample_within<-9, 9, 10>, kInplace, {.vjp = slope_of_input<d_atanh>}),
    composite("exp2(tensor input) -> tensor", CastPolicy::none, "2 to the power of the input.", real_formula<[](Var x) {
                return x.builder->call("pow", {2.0, x});
              }>,
              sample_within<-3, 3>, kInplace, {.vjp = slope_of_result<d_exp2>}),
    composite("expm1(tensor input) -> tensor", CastPolicy::fp32, "exp(input) - 1, exact near zero.",
              real_formula<expm1_of>, sample_within<-2, 2>, kInplace, {.vjp = slope_of_result<d_expm1>}),
    composite("log1p(tensor input) -> tensor", CastPolicy::fp32, "log(1 + input), exact near zero.",
              real_formula<log1p_of>, sample_within<-1, 9, 2>, kInplace, {.vjp = slope_of_input<d_log1p>}),
    prim("log2(tensor input) -> tensor", CastPolicy::fp32, "The logarithm to the base 2.", sample_within<1, 9, 2>),
    prim("log10(tensor input) -> tensor", CastPolicy::fp32, "The logarithm to the base 10.", sample_within<1, 9, 2>),
    prim("erfc(tensor input) -> tensor", CastPolicy::none, "1 - erf(input), exact where that cancels.",
         sample_within<-2, 4>),
    prim("erfcx(tensor input) -> tensor", CastPolicy::none, "exp(input * input) * erfc(input), without its overflow.",
         sample_within<-1, 4>),
    composite("erfinv(tensor input) -> tensor", CastPolicy::fp32, "The number whose error function is the input.",
              real_formula<erfinv_of>, sample_within<-9, 9, 10>, kInplace, {.vjp = slope_of_result<d_erfinv>}),
    composite("ndtr(tensor input) -> tensor", CastPolicy::none,
              "The normal distribution: the probability of being less.", real_formula<ndtr_of>, sample_within<-3, 3>,
              kInplace, {.vjp = slope_of_input<d_ndtr>}),
    prim("ndtri(tensor input) -> tensor", CastPolicy::none,
         "The quantile of the normal distribution: the inverse of ndtr.", sample_within<1, 9, 10>),
    prim("log_ndtr(tensor input) -> tensor", CastPolicy::none, "The logarithm of the normal distribution.",
         sample_within<-9, 3>),
    prim("lgamma(tensor input) -> tensor", CastPolicy::none,
         "The logarithm of the absolute value of the gamma function.", sample_within<1, 9, 2>),
    prim("digamma(tensor input) -> tensor", CastPolicy::none, "The derivative of lgamma.", sample_within<1, 9, 2>),
    composite("polygamma(int n, tensor input) -> tensor", CastPolicy::none, "The n-th derivative of digamma.",
              polygamma, sample_polygammas),
    composite("mvlgamma(tensor input, int p) -> tensor", CastPolicy::none,
              "The logarithm of the multivariate gamma function of dimension p.", mvlgamma, sample_mvlgammas, kInplace),
    composite("i0(tensor input) -> tensor", CastPolicy::none,
              "The modified Bessel function of the first kind of order 0.", real_formula<i0_of>, sample_within<-3, 3>,
              kInplace, {.vjp = slope_of_input<d_i0>}),
    prim("i1(tensor input) -> tensor", CastPolicy::none, "The modified Bessel function of the first kind of order 1.",
         sample_within<-3, 3>),
    composite("i0e(tensor input) -> tensor", CastPolicy::none, "i0(input) * exp(-|input|), without its overflow.",
              real_formula<i0e_of>, sample_within<1, 9, 2>, kInplace, {.vjp = slope_of_input<d_i0e>}),
    prim("i1e(tensor input) -> tensor", CastPolicy::none, "i1(input) * exp(-|input|), without its overflow.",
         sample_within<1, 9, 2>),
    composite("sinc(tensor input) -> tensor", CastPolicy::none, "sin(pi * input) / (pi * input), and 1 at 0.",
              real_formula<sinc_of>, sample_within<-2, 2>, kInplace),
    composite("logit(tensor input, float? eps=None) -> tensor", CastPolicy::none,
              "log(input / (1 - input)); with eps the input is limited to [eps, 1 - eps] first.", logit,
              logit_samples<1, 9, 10>, kInplace, {.vjp = logit_vjp}),
    composite("entr(tensor input) -> tensor", CastPolicy::none, "-input * log(input), 0 at 0 and -inf below.",
              real_formula<entr_of>, sample_within<1, 9, 2>, kInplace, {.vjp = slope_of_input<d_entr>}),
    composite("deg2rad(tensor input) -> tensor", CastPolicy::none, "Degrees as radians.",
              real_formula<[](Var x) { return x * (kPi / 180); }>, sample_within<-90, 90>, kInplace),
    composite("rad2deg(tensor input) -> tensor", CastPolicy::none, "Radians as degrees.",
              real_formula<[](Var x) { return x * (180 / kPi); }>, sample_within<-3, 3>, kInplace),
};

}  // namespace

extern const OpRows math_ops = kRows;

}  // namespace thunder
