// Oracles of functions of one element.
#include <cmath>
#include <numbers>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

Arrays gelu(const Arguments& a) {
  if (a.text(1, "none") == "none") return map(a, [](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); });
  return map(a, [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  });
}

Arrays leaky_relu(const Arguments& a) {
  const double slope = a.number(1, 0.01);
  return map(a, [=](double x) { return x > 0 ? x : x * slope; });
}

double digamma(double x) {
  if (x == 0) return std::copysign(HUGE_VAL, -x);
  if (x < 0 && x == std::floor(x)) return std::nan("");
  if (x < 0) return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  double sum = 0;
  for (; x < 1000; x++) sum -= 1 / x;
  return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}
// The inverse of an increasing function, by halving.
template <class F>
double inverse(double y, double low, double high, F f) {
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}
double erfinv(double x) {
  if (std::fabs(x) >= 1 || x != x) return std::fabs(x) == 1 ? std::copysign(HUGE_VAL, x) : std::nan("");
  return inverse(x, -6, 6, [](double v) { return std::erf(v); });
}
double normal(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : std::nan("");
  return inverse(p, -40, 9, normal);
}
// The integral that defines it, by the trapezoidal rule, which is exact for periodic functions.
double bessel(double order, double x, double scaled) {
  if (x == 0) return order == 0 ? 1 : 0;
  if (x != x || std::isinf(x)) return x != x ? x : scaled != 0 ? 0 : order == 0 ? HUGE_VAL : x;
  if (std::fabs(x) > 1e4) return scaled != 0 ? std::copysign(1, order == 0 ? 1 : x) / std::sqrt(2 * std::numbers::pi * std::fabs(x)) : order == 0 ? HUGE_VAL : std::copysign(HUGE_VAL, x);
  constexpr int kSteps = 2000;
  double sum = 0;
  for (int i = 0; i < kSteps; i++) {
    const double t = 2 * std::numbers::pi * i / kSteps;
    sum += std::exp(x * std::cos(t) - scaled * std::fabs(x)) * std::cos(order * t);
  }
  return sum / kSteps;
}
double log_normal(double x) {
  return x > -20 ? std::log(normal(x)) : -x * x / 2 - std::log(-x * std::sqrt(2 * std::numbers::pi)) + std::log1p(-1 / (x * x) + 3 / (x * x * x * x));
}
// To nearest, of two the even one.
double round_half_even(double x) {
  const double up = std::floor(x + 0.5);
  return std::fabs(x) > 1e15 || std::isnan(x) ? x : up - x == 0.5 && std::fmod(up, 2) != 0 ? up - 1 : up;
}

constexpr OracleRow kRows[] = {
    row("abs", [](double x) { return std::fabs(x); }),
    row("neg", [](double x) { return -x; }),
    row("sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }),
    row("floor", [](double x) { return std::floor(x); }),
    row("logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }),
    row("exp", [](double x) { return std::exp(x); }),
    row("log", [](double x) { return std::log(x); }),
    row("sqrt", [](double x) { return std::sqrt(x); }),
    row("rsqrt", [](double x) { return 1 / std::sqrt(x); }),
    row("reciprocal", [](double x) { return 1 / x; }),
    row("sin", [](double x) { return std::sin(x); }),
    row("cos", [](double x) { return std::cos(x); }),
    row("tanh", [](double x) { return std::tanh(x); }),
    row("erf", [](double x) { return std::erf(x); }),
    row("square", [](double x) { return x * x; }),
    row("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }),
    row("relu", [](double x) { return x > 0 || x != x ? x : 0.0; }),
    row("silu", [](double x) { return x / (1 + std::exp(-x)); }),
    row("tan", [](double x) { return std::tan(x); }),
    row("asin", [](double x) { return std::asin(x); }),
    row("acos", [](double x) { return std::acos(x); }),
    row("atan", [](double x) { return std::atan(x); }),
    row("sinh", [](double x) { return std::sinh(x); }),
    row("cosh", [](double x) { return std::cosh(x); }),
    row("asinh", [](double x) { return std::asinh(x); }),
    row("acosh", [](double x) { return std::acosh(x); }),
    row("atanh", [](double x) { return std::atanh(x); }),
    row("exp2", [](double x) { return std::exp2(x); }),
    row("expm1", [](double x) { return std::expm1(x); }),
    row("log1p", [](double x) { return std::log1p(x); }),
    row("log2", [](double x) { return std::log2(x); }),
    row("log10", [](double x) { return std::log10(x); }),
    row("erfc", [](double x) { return std::erfc(x); }),
    row("erfcx", [](double x) { return x < 20 ? std::exp(x * x) * std::erfc(x) : (1 - 1 / (2 * x * x) + 3 / (4 * x * x * x * x)) / (x * std::sqrt(std::numbers::pi)); }),
    row("erfinv", [](double x) { return erfinv(x); }),
    row("ndtr", [](double x) { return normal(x); }),
    row("ndtri", [](double x) { return ndtri(x); }),
    row("log_ndtr", [](double x) { return log_normal(x); }),
    row("lgamma", [](double x) { return std::lgamma(x); }),
    row("digamma", [](double x) { return digamma(x); }),
    row("i0", [](double x) { return bessel(0, x, 0); }),
    row("i1", [](double x) { return bessel(1, x, 0); }),
    row("i0e", [](double x) { return bessel(0, x, 1); }),
    row("i1e", [](double x) { return bessel(1, x, 1); }),
    row("sinc", [](double x) { return x == 0 ? 1 : x == std::floor(x) && std::isfinite(x) ? 0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }),
    row("entr", [](double x) { return x < 0 ? -HUGE_VAL : x == 0 ? 0 : -x * std::log(x); }),
    row("deg2rad", [](double x) { return x / 180 * std::numbers::pi; }),
    row("rad2deg", [](double x) { return x / std::numbers::pi * 180; }),
    row("ceil", [](double x) { return std::ceil(x); }),
    row("trunc", [](double x) { return std::trunc(x); }),
    row("frac", [](double x) { return x - std::trunc(x); }),
    row("positive", [](double x) { return x; }),
    row("angle", [](double x) { return x < 0 ? std::numbers::pi : x != x ? x : 0.0; }),
    row("isnan", [](double x) { return x != x ? 1.0 : 0.0; }),
    row("isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; }),
    row("isposinf", [](double x) { return x == HUGE_VAL ? 1.0 : 0.0; }),
    row("isneginf", [](double x) { return x == -HUGE_VAL ? 1.0 : 0.0; }),
    row("isfinite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }),
    row("signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }),
    {"round", [](const Arguments& a) {
       const double scale = std::pow(10, a.number(1, 0));
       return map(a, [=](double x) { return scale == 1 ? round_half_even(x) : round_half_even(x * scale) / scale; });
     }},
    {"logit", [](const Arguments& a) {
       const double eps = a.number(1, -1);
       return map(a, [=](double x) {
         if (eps >= 0) x = std::min(std::max(x, eps), 1 - eps);
         return std::log(x / (1 - x));
       });
     }},
    {"gelu", gelu},
    {"leaky_relu", leaky_relu},
};

}  // namespace

std::span<const OracleRow> unary_oracles() { return kRows; }

}  // namespace thunder::battery
