#include "ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace thunder::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi, kSqrtPi = 1 / std::numbers::inv_sqrtpi;

double horner(double x, const double* c, int n) {
  double y = c[0];
  for (int i = 1; i < n; i++) y = y * x + c[i];
  return y;
}

// The first term of the series of Bessel functions of the orders 0 and 1: the next one is below rounding, and the C++
// library's function fails on denormals.
constexpr double kTiny = 1e-9;
double bessel_of_tiny(double nu, double x) { return nu == 0 ? 1 : x / 2; }

// Bessel functions of the order nu times exp(-x), x >= 0. Beyond the first bound by the asymptotic series, as sums of
// terms (4 nu^2 - (2k - 1)^2) / (8 k x).
double scaled_bessel_i(double nu, double x) {
  if (x < kTiny) return bessel_of_tiny(nu, x);
  if (x < 300) return std::cyl_bessel_i(nu, x) * std::exp(-x);
  if (std::isinf(x)) return 0;
  double sum = 1, term = 1;
  for (int k = 1; k < 12; k++) {
    const double odd = 2 * k - 1;
    term *= -(4 * nu * nu - odd * odd) / (8 * k * x);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * x);
}
double bessel_i(double nu, double x) {
  if (x < kTiny) return bessel_of_tiny(nu, x);
  if (x < 300) return std::cyl_bessel_i(nu, x);
  const double half = std::exp(x / 2);
  if (std::isinf(half)) return kInf;
  return scaled_bessel_i(nu, x) * half * half;
}

}  // namespace

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Reflected to positive arguments, raised to where the asymptotic series holds.
double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNaN;
    double whole = 0;
    return digamma(1 - x) - kPi / std::tan(kPi * std::modf(x, &whole));
  }
  double shift = 0;
  for (; x < 12; x++) shift -= 1 / x;
  const double z = 1 / (x * x);
  constexpr double c[] = {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
  return std::isinf(x) ? x : shift + std::log(x) - 0.5 / x - z * horner(z, c, 7);
}

// Hurwitz' zeta function by Euler and Maclaurin, after Cephes.
double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (!(s > 1)) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return kInf;
    if (s != std::floor(s)) return kNaN;
  }
  double sum = std::pow(q, -s), a = q, term = 0;
  for (int i = 0; i < 9 || a <= 9; i++) {
    a += 1;
    term = std::pow(a, -s);
    sum += term;
    if (std::fabs(term) <= 1e-17 * std::fabs(sum)) return sum;
  }
  sum += term * a / (s - 1) - 0.5 * term;
  constexpr double even[] = {12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10,
                             -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
                             1.8152105401943546773e17, -7.1661652561756670113e18};
  double factor = 1, k = 0;
  for (double e : even) {
    factor *= s + k;
    term /= a;
    const double t = factor * term / e;
    sum += t;
    if (std::fabs(t) <= 1e-17 * std::fabs(sum)) break;
    k += 1;
    factor *= s + k;
    term /= a;
    k += 1;
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  return (std::fmod(n, 2) != 0 ? 1 : -1) * std::tgamma(n + 1) * zeta(n + 1, x);
}

// Acklam's rational approximation, and one step of Halley's method.
double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInf : kInf;
  if (p > 0.5) return -ndtri(1 - p);
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                          6.680131188771972e+01,  -1.328068155288572e+01, 1};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00,
                          1};
  double x;
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    x = horner(q, c, 6) / horner(q, d, 5);
  } else {
    const double q = p - 0.5, r = q * q;
    x = horner(r, a, 6) * q / horner(r, b, 6);
  }
  const double e = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  const double u = e * std::sqrt(2 * kPi) * std::exp(x * x / 2);
  return std::isfinite(u) ? x - u / (1 + x * u / 2) : x;
}

double erfinv(double x) {
  const double y = std::fabs(x);
  if (!(y < 0.5)) return std::copysign(-ndtri((1 - y) / 2) / std::numbers::sqrt2, x);
  double z = y == 0 ? 0 : ndtri((1 + y) / 2) / std::numbers::sqrt2;
  for (int i = 0; i < 2; i++) z -= (std::erf(z) - y) * kSqrtPi / 2 * std::exp(z * z);
  return std::copysign(z, x);
}

double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double z = 1 / (2 * x * x);
  return (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z)))) / (x * kSqrtPi);
}

double log_ndtr(double x) {
  const double t = x / std::numbers::sqrt2;
  return x < -1 ? std::log(erfcx(-t) / 2) - t * t : std::log1p(-std::erfc(t) / 2);
}

double i0(double x) { return x != x ? x : bessel_i(0, std::fabs(x)); }
double i1(double x) { return x != x ? x : std::copysign(bessel_i(1, std::fabs(x)), x); }
double i0e(double x) { return x != x ? x : scaled_bessel_i(0, std::fabs(x)); }
double i1e(double x) { return x != x ? x : std::copysign(scaled_bessel_i(1, std::fabs(x)), x); }

}  // namespace thunder::special
