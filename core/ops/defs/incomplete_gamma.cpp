// The regularised incomplete gamma functions, and the prim that both are.
#include "ops/functions.h"
#include "ops/samples.h"
#include "ops/special.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- over doubles ----

constexpr double kEpsilon = 1.1e-16, kTiny = 1e-300;

// log(1 + x) - x, whose terms cancel near 0.
double log1p_less_x(double x) {
  if (std::fabs(x) > 0.02) return std::log1p(x) - x;
  double sum = 0;
  for (int n = 9; n >= 2; n--) sum = 1.0 / n - x * sum;
  return -x * x * sum;
}

// x^a exp(-x) / gamma(a + 1): of large a by Stirling's series, since the logarithms would cancel.
double density(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - special::lgamma(a + 1));
  const double r = 1 / (a * a), stirling = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / a;
  return std::exp(a * log1p_less_x((x - a) / a) - stirling) / std::sqrt(2 * kPi * a);
}

double lower_by_series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = 1; term > sum * kEpsilon; n++) term *= x / (a + n), sum += term;
  return sum * density(a, x);
}
// Where the lower one is nearly 1, for x up to 1.1.
double upper_by_series(double a, double x) {
  double factor = 1, sum = 0, term = 1;
  for (double n = 1; std::fabs(term) > kEpsilon * std::fabs(sum); n++) factor *= -x / n, sum += term = factor / (a + n);
  return -std::expm1(a * std::log(x) - special::lgamma(1 + a)) - a * density(a, x) * std::exp(x) * sum;
}
// Lentz' way to evaluate the continued fraction.
double upper_by_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d, step = 0;
  for (double n = 1; std::fabs(step - 1) > kEpsilon && n < 10000; n++) {
    const double numerator = n * (a - n);
    b += 2;
    d = numerator * d + b, c = b + numerator / c;
    d = 1 / (d == 0 ? kTiny : d), c = c == 0 ? kTiny : c;
    step = c * d, value *= step;
  }
  return value * a * density(a, x);
}
// Temme's expansion for large a, whose next term is below 1e-12 from kLarge on.
constexpr double kLarge = 1e6;
double by_normal(double a, double x, bool upper) {
  const double step = (x - a) / a, half_square = -log1p_less_x(step);
  const double eta = std::copysign(std::sqrt(2 * half_square), step);
  const double series = -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864));
  const double first = std::fabs(eta) < 0.01 ? series : 1 / step - 1 / eta;
  const double rest = std::exp(-a * half_square) / std::sqrt(2 * kPi * a) * first;
  return 0.5 * std::erfc((upper ? eta : -eta) * std::sqrt(a / 2)) + (upper ? rest : -rest);
}

double regularised(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return std::nan("");
  if (a == 0 || std::isinf(x)) return upper ? 0 : 1;
  if (x == 0 || std::isinf(a)) return upper ? 1 : 0;
  if (a > kLarge) return by_normal(a, x, upper);
  if (x <= 1.1 && upper && (x <= 0.5 ? -0.4 / std::log(x) : x * 1.1) >= a) return upper_by_series(a, x);
  const bool near_zero = x <= 1.1 || x <= a;
  const double made = near_zero ? lower_by_series(a, x) : upper_by_fraction(a, x);
  return near_zero == upper ? 1 - made : made;
}

// ---- the prim ----

void igamma_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(is_real(c.type(0).dtype), "operands must be real; ", c.types());
}
Status* igamma_kernel(const KernelArgs& k) {
  return k.args[2].i ? map_real_pairs(k, [](double a, double x) { return regularised(a, x, true); })
                     : map_real_pairs(k, [](double a, double x) { return regularised(a, x, false); });
}
void igamma_vjp(Grad& g) {
  g.require(!g.wants(0), "has no gradient in input, as in PyTorch");
  Var a = computed(g.var(0)), x = computed(g.var(1));
  Var slope = exp(apply("xlogy", a - 1.0, x) - x - apply(Prim::lgamma, a));
  g.add(1, computed(g.cotangent()) * (g.flag(2) ? -slope : slope));
}

// ---- the functions ----

template <bool upper>
Results igamma(Call& c) {
  const ComputedOperands x = computed_operands(c, {0, 1}, true);
  return rounded(x, c.builder.call(Prim::igamma, {x.v[0], x.v[1], upper}));
}

void sample_shapes(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f32, 0.5, 4}, TensorSpec{{3}, DType::f32, 0.2, 6}});
  s.add_without_gradient({TensorSpec{{3}, DType::f64, 0.5, 4}, TensorSpec{{2, 1}, DType::f64, 0.2, 6}});
  s.add_without_gradient({TensorSpec{{2}, DType::bf16, 1, 2}, TensorSpec{{2}, DType::i64, 1, 3}});
  s.add_without_gradient({TensorSpec{{0, 3}}, TensorSpec{{3}}});
  s.refuse({TensorSpec{{2}}, TensorSpec{{3}}}, "broadcast");
}

constexpr OpRow kRows[] = {
    primitive("prims.igamma(tensor input, tensor other, bool upper) -> tensor",
              "The lower, or upper, regularised incomplete gamma function of shape input at other.", igamma_meta,
              igamma_kernel, igamma_vjp, kElementwise),
    composite("igamma(tensor input, tensor other) -> tensor", CastPolicy::none,
              "The lower regularised incomplete gamma function: the share of a gamma distribution of shape input that "
              "is below other.",
              igamma<false>, sample_shapes, kInplace),
    composite("igammac(tensor input, tensor other) -> tensor", CastPolicy::none,
              "The upper regularised incomplete gamma function: 1 - igamma(input, other), without its cancellation.",
              igamma<true>, sample_shapes, kInplace),
    another_name("gammainc(tensor input, tensor other) -> tensor", CastPolicy::none, "igamma", sample_shapes),
    another_name("gammaincc(tensor input, tensor other) -> tensor", CastPolicy::none, "igammac", sample_shapes),
};

}  // namespace

extern const OpRows incomplete_gamma_ops = kRows;

}  // namespace thunder
