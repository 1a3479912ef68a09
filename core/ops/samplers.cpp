#include "ops/samplers.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/special.h"

namespace thunder::samplers {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// SplitMix64, begun by the 53 bits of a uniform number.
class Generator {
 public:
  explicit Generator(double u) : state_(static_cast<uint64_t>(u * 0x1p53)) {}
  // A uniform number in (0, 1).
  double uniform() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (static_cast<double>((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
  }
  // Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double a = 2 * uniform() - 1, b = 2 * uniform() - 1, square = a * a + b * b;
      if (square < 1 && square > 0) return a * std::sqrt(-2 * std::log(square) / square);
    }
  }

 private:
  uint64_t state_;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Requires shape >= 1.
double gamma_by_rejection(double shape, Generator& random) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(random.uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
  }
}

// The terms of the distribution's series over the density are x^(k + 1) / (shape ... (shape + k)), whose
// logarithms have the derivatives log(x) - digamma(shape + k + 1).
double gamma_slope_by_series(double shape, double x) {
  const double log = std::log(x);
  double term = x / shape, digamma = special::digamma(shape + 1), sum = 0;
  for (double k = 1;; k++) {
    const double part = term * (log - digamma);
    sum += part;
    if (shape + k > x && std::fabs(part) <= 1e-17 * std::fabs(sum)) return -sum;
    term *= x / (shape + k), digamma += 1 / (shape + k);
  }
}
// For large shapes: the derivative of the Wilson-Hilferty cube of a normal variable, which is held fixed.
double gamma_slope_by_cube(double shape, double x) {
  const double root = std::cbrt(x / shape), normal = (root - 1 + 1 / (9 * shape)) * 3 * std::sqrt(shape);
  const double slope = 1 / (9 * shape * shape) - normal / (6 * shape * std::sqrt(shape));
  return root * root * (root + 3 * shape * slope);
}

// Hörmann, "The transformed rejection method for generating Poisson random variables", 1993: PTRS. Requires rate >= 10.
double poisson_by_rejection(double rate, Generator& random) {
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = std::log(rate);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), ratio = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = random.uniform() - 0.5, v = random.uniform(), s = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / s + b) * u + rate + 0.43);
    if (s >= 0.07 && v <= ratio) return k;
    if (k < 0 || (s < 0.013 && v > s)) continue;
    if (std::log(v * inverse_alpha / (a / (s * s) + b)) <= k * log_rate - rate - special::lgamma(k + 1)) return k;
  }
}
double poisson_by_inversion(double rate, Generator& random) {
  double left = random.uniform(), density = std::exp(-rate), k = 0;
  while (left > density && density > 0) left -= density, k++, density *= rate / k;
  return k;
}

}  // namespace

double gamma(double shape, double u) {
  if (!(shape > 0) || std::isinf(shape)) return shape == 0 || shape > 0 ? shape : kNaN;
  Generator random(u);
  if (shape >= 1) return gamma_by_rejection(shape, random);
  const double larger = gamma_by_rejection(shape + 1, random);
  return larger * std::pow(random.uniform(), 1 / shape);
}

double gamma_slope(double shape, double x) {
  if (!(shape > 0) || !(x >= 0)) return kNaN;
  if (x == 0 || std::isinf(shape)) return x == 0 ? 0 : 1;
  if (std::isinf(x)) return kInf;
  return shape < 1e5 ? gamma_slope_by_series(shape, x) : gamma_slope_by_cube(shape, x);
}

double poisson(double rate, double u) {
  if (!(rate > 0) || std::isinf(rate)) return rate == 0 || rate > 0 ? rate : kNaN;
  Generator random(u);
  return rate < 10 ? poisson_by_inversion(rate, random) : poisson_by_rejection(rate, random);
}

}  // namespace thunder::samplers
