// Functions of real numbers that the C library or core/ops/special.h computes: each row is a prim.
#include "ops/functions.h"
#include "ops/lgammas.h"
#include "ops/special.h"
#include "ops/tables.h"

namespace thunder {
namespace {

double next_after(double x, double y) { return std::nextafter(x, y); }

// The neighbour in the dtype itself.
Status* nextafter_kernel(const KernelArgs& k) {
  if (k.out[0].dtype == DType::f64) return map_real_pairs(k, next_after);
  each2<float, float>(k, [](float a, float b) { return std::nextafter(a, b); });
  return nullptr;
}
void nextafter_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(c.type(0).dtype == DType::f32 || c.type(0).dtype == DType::f64, "operands must be f32 or f64; ", c.types());
}

void real_pair_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(is_real(c.type(0).dtype), "operands must be real; ", c.types());
}

Status* lgamma_kernel(const KernelArgs& k) {
  if (k.out[0].dtype != DType::f32) return map_reals(k, special::lgamma);
  Rows<2> rows(k.out[0], {&k.out[0], &k.in[0]});
  return each_run(k, rows, [&](const auto& at, int64_t n, int64_t) {
    float* out = k.out[0].as<float>() + at[0];
    const float* in = k.in[0].as<float>() + at[1];
    if (rows.step[0] == 1 && rows.step[1] == 1) return fill_lgammas(in, n, out);
    for (int64_t i = 0; i < n; i++) fill_lgammas(in + i * rows.step[1], 1, out + i * rows.step[0]);
  });
}

Status* polygamma_kernel(const KernelArgs& k) {
  const auto n = static_cast<double>(k.args[0].i);
  by_real(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    each<T, T>(k, [n](C v) { return static_cast<T>(static_cast<C>(special::polygamma(n, static_cast<double>(v)))); });
  });
  return nullptr;
}
void polygamma_meta(const Call& c, Types& out) {
  c.require(c.integer(0) >= 0 && c.integer(0) < 170, "n must be between 0 and 169, got ", c.integer(0));
  c.require(is_real(c.type(1).dtype), "input must be real, got ", name(c.type(1)));
  out.push(c.type(1));
}
void polygamma_vjp(Grad& g) {
  g.add(1, computed(g.cotangent()) * g.builder.call(Prim::polygamma, {g.integer(0) + 1, computed(g.var(1))}));
}

Var derivative_of_digamma(Var x) { return x.builder->call(Prim::polygamma, {1, x}); }
// Near zero the slope at zero is taken, to avoid a division by tiny numbers.
Var i1_slope(Var x) {
  Var tiny = lt(abs(x), 1e-30);
  return where(tiny, 0.5, apply(Prim::i0, x) - apply(Prim::i1, x) / where(tiny, 1.0, x));
}
Var i1e_slope(Var x) {
  Var tiny = lt(abs(x), 1e-30), safe = where(tiny, 1.0, x);
  return where(tiny, 0.5, apply(Prim::i0e, x) - apply(Prim::i1e, x) * (sign(x) + 1.0 / safe));
}

constexpr auto d_atan = [](Var x) { return 1.0 / (x * x + 1.0); };
constexpr auto d_asin = [](Var x) { return apply(Prim::rsqrt, (1.0 - x) * (x + 1.0)); };
constexpr auto d_acos = [](Var x) { return -apply(Prim::rsqrt, (1.0 - x) * (x + 1.0)); };
constexpr auto d_log2 = [](Var x) { return 1.0 / (x * kLn2); };
constexpr auto d_log10 = [](Var x) { return 1.0 / (x * std::numbers::ln10); };
constexpr auto d_erfc = [](Var x) { return exp(-(x * x)) * (-2 * std::numbers::inv_sqrtpi); };
constexpr auto d_lgamma = [](Var x) { return apply(Prim::digamma, x); };
constexpr auto erfinv_slope = [](Var y) { return exp(y * y) * (0.5 / std::numbers::inv_sqrtpi); };
constexpr auto d_ndtri = [](Var y) { return exp(y * y * 0.5) * std::sqrt(2 * kPi); };
constexpr auto d_erfcx_of = [](Var x) { return x * 2.0 * apply(Prim::erfcx, x) - 2 * std::numbers::inv_sqrtpi; };
constexpr auto i0_slope = [](Var x) { return apply(Prim::i1, x); };
constexpr auto i0e_slope = [](Var x) { return apply(Prim::i1e, x) - sign(x) * apply(Prim::i0e, x); };
// The density over the distribution, of which the logarithms do not underflow.
void log_ndtr_vjp(Grad& g) {
  Var x = computed(g.var(0));
  g.add(0, computed(g.cotangent()) * exp(x * x * -0.5 - computed(g.result()) - 0.5 * std::log(2 * kPi)));
}
// At the origin, where there is no angle, both slopes are 0, as in PyTorch.
void atan2_vjp(Grad& g) {
  Var dy = computed(g.cotangent()), a = computed(g.var(0)), b = computed(g.var(1));
  Var origin = both(eq(a, 0.0), eq(b, 0.0)), norm = where(origin, 1.0, a * a + b * b);
  if (g.wants(0)) g.add(0, dy * b / norm);
  if (g.wants(1)) g.add(1, -(dy * a / norm));
}
void zeta_vjp(Grad& g) {
  g.require(!g.wants(0), "has no gradient in its first argument");
  Var dy = computed(g.cotangent()), s = computed(g.var(0)), q = computed(g.var(1));
  g.add(1, -(dy * s * g.builder.call(Prim::zeta, {s + 1.0, q})));
}

constexpr OpRow kRows[] = {
    real("prims.atan(tensor input) -> tensor", "The arc tangent.", function_kernel<::atan>, slope_of_input<d_atan>),
    real("prims.asin(tensor input) -> tensor", "The arc sine.", function_kernel<::asin>, slope_of_input<d_asin>),
    real("prims.acos(tensor input) -> tensor", "The arc cosine.", function_kernel<::acos>, slope_of_input<d_acos>),
    real("prims.log2(tensor input) -> tensor", "The logarithm to the base 2.", function_kernel<::log2>,
         slope_of_input<d_log2>),
    real("prims.log10(tensor input) -> tensor", "The logarithm to the base 10.", function_kernel<::log10>,
         slope_of_input<d_log10>),
    real("prims.erfc(tensor input) -> tensor", "1 - erf(input), without its cancellation.", function_kernel<::erfc>,
         slope_of_input<d_erfc>),
    real("prims.erfcx(tensor input) -> tensor", "exp(input * input) * erfc(input).", function_kernel<special::erfcx>,
         slope_of_input<d_erfcx_of>),
    real("prims.erfinv(tensor input) -> tensor", "The inverse of erf.", function_kernel<special::erfinv>,
         slope_of_result<erfinv_slope>),
    real("prims.ndtri(tensor input) -> tensor", "The quantile of the normal distribution.",
         function_kernel<special::ndtri>, slope_of_result<d_ndtri>),
    real("prims.log_ndtr(tensor input) -> tensor", "The logarithm of the normal distribution.",
         function_kernel<special::log_ndtr>, log_ndtr_vjp),
    real("prims.lgamma(tensor input) -> tensor", "The logarithm of the absolute value of the gamma function.",
         lgamma_kernel, slope_of_input<d_lgamma>),
    real("prims.digamma(tensor input) -> tensor", "The derivative of lgamma.", function_kernel<special::digamma>,
         slope_of_input<derivative_of_digamma>),
    real("prims.i0(tensor input) -> tensor", "The modified Bessel function of the first kind of order 0.",
         function_kernel<special::i0>, slope_of_input<i0_slope>),
    real("prims.i1(tensor input) -> tensor", "The modified Bessel function of the first kind of order 1.",
         function_kernel<special::i1>, slope_of_input<i1_slope>),
    real("prims.i0e(tensor input) -> tensor", "exp(-|input|) * i0(input).", function_kernel<special::i0e>,
         slope_of_input<i0e_slope>),
    real("prims.i1e(tensor input) -> tensor", "exp(-|input|) * i1(input).", function_kernel<special::i1e>,
         slope_of_input<i1e_slope>),
    primitive("prims.polygamma(int n, tensor input) -> tensor", "The n-th derivative of digamma.", polygamma_meta,
              polygamma_kernel, polygamma_vjp, kElementwise),
    primitive("prims.atan2(tensor input, tensor other) -> tensor", "The angle of the point (other, input).",
              real_pair_meta, pair_function_kernel<::atan2>, atan2_vjp, kElementwise),
    primitive("prims.zeta(tensor input, tensor other) -> tensor",
              "Hurwitz' zeta function of exponent input and shift other.", real_pair_meta,
              pair_function_kernel<special::zeta>, zeta_vjp, kElementwise),
    primitive("prims.nextafter(tensor input, tensor other) -> tensor",
              "The next number after input in the direction of other.", nextafter_meta, nextafter_kernel, nullptr,
              kElementwise, {.nondiff = "it steps from number to number"}),
};

}  // namespace

extern const OpRows math_prims_ops = kRows;

}  // namespace thunder
