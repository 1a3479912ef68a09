#include "ops/lgammas.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/widest.h"

namespace thunder {
namespace {

// Lanczos' approximation of 13 terms: lgamma(x) = log(sum(x)) - g + (x - 1/2) (log(x + g - 1/2) - 1) for x > 0. Its
// absolute error is about 1e-15, which is enough for f32 beside the zeros at 1 and 2 as well.
constexpr double kG = 6.024680040776729583740234375;
constexpr double kNumerator[] = {
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408};
constexpr double kDenominator[] = {0,         39916800, 120543840, 150917976, 105258076, 45995730, 13339535,
                                   2637558.0, 357423,   32670,     1925,      66,        1};

// Coefficients from the constant on, unrolled so that loops over x can be vectorized.
template <size_t i = 0, size_t n>
[[gnu::always_inline]] inline double polynomial(const double (&c)[n], double x) {
  if constexpr (i + 1 == n)
    return c[i];
  else
    return polynomial<i + 1>(c, x) * x + c[i];
}

// The logarithm of a positive normal number without a branch: of its exponent, and of what is left between sqrt(1/2)
// and sqrt(2) by the series of atanh.
[[gnu::always_inline]] inline double natural_log(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e00000000, kOne = 0x3ff0000000000000, kMantissa = 0x000fffffffffffff;
  constexpr double kSeries[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17};
  const uint64_t bits = std::bit_cast<uint64_t>(x) + (kOne - kRootHalf);
  // The exponent as the low bits of 2^52, so that no integer has to be converted.
  const double exponent = std::bit_cast<double>(bits >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
  const double part = std::bit_cast<double>((bits & kMantissa) + kRootHalf), f = (part - 1) / (part + 1);
  return exponent * std::numbers::ln2 + f * polynomial(kSeries, f * f);
}
// |sin(pi x)|, by the series of the sine of what is left to the nearest integer.
[[gnu::always_inline]] inline double sine_of_pi(double x) {
  constexpr double kSeries[] = {3.1415926535897932385,     -5.1677127800499700292,     2.5501640398773454439,
                                -0.59926452932079207689,   0.08214588661112822879,     -0.0073704309457143505076,
                                0.00046630280576761256441, -2.1915353447830215828e-05, 7.9520540014755127847e-07,
                                -2.2948428997269873110e-08};
  const double rest = x - std::nearbyint(x);
  return std::fabs(rest * polynomial(kSeries, rest * rest));
}

// The sum for x > 0. Where its powers would overflow it is almost constant.
[[gnu::always_inline]] inline double lanczos_sum(double x) {
  const double at = std::min(x, 1e18);
  return polynomial(kNumerator, at) / polynomial(kDenominator, at);
}
[[gnu::always_inline]] inline double lanczos_rest(double x) {
  return (x - 0.5) * (natural_log(x + kG - 0.5) - 1) - kG;
}

constexpr int64_t kBlock = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A loop for each step, since a branch inside keeps a loop from being vectorized.
[[gnu::always_inline]] inline void lgammas_of_positive(const double* x, int64_t n, double* y) {
  for (int64_t i = 0; i < n; i++) y[i] = natural_log(lanczos_sum(x[i])) + lanczos_rest(x[i]);
}
// Of any sign: gamma(-x) gamma(x) = -pi / (x sin(pi x)).
[[gnu::always_inline]] inline void lgammas_by_reflection(const double* x, int64_t n, double* y) {
  double rest[kBlock], sum[kBlock], mirrored[kBlock];
  for (int64_t i = 0; i < n; i++) rest[i] = lanczos_rest(std::fabs(x[i]));
  for (int64_t i = 0; i < n; i++) sum[i] = lanczos_sum(std::fabs(x[i]));
  for (int64_t i = 0; i < n; i++) mirrored[i] = std::numbers::pi / (sine_of_pi(x[i]) * std::fabs(x[i]) * sum[i]);
  for (int64_t i = 0; i < n; i++) sum[i] = x[i] > 0 ? sum[i] : mirrored[i];
  for (int64_t i = 0; i < n; i++) y[i] = natural_log(sum[i]) + std::copysign(rest[i], rest[i] * x[i]);
}
// Special values: exact results, infinities and NaN.
[[gnu::always_inline]] inline double fix_special_values(double x, double y) {
  if (x == 1 || x == 2) return 0;
  if (x <= 0 && x == std::nearbyint(x)) return kInfinity;
  return std::fabs(x) < kInfinity ? y : std::fabs(x);
}
struct FillWithLgammas {
  [[gnu::always_inline]] inline void operator()(const float* in, int64_t n, float* out) const {
    double x[kBlock], y[kBlock];
    for (int64_t done = 0; done < n; done += kBlock) {
      const int64_t length = std::min(n - done, kBlock);
      double least = 1;
      for (int64_t i = 0; i < length; i++) x[i] = static_cast<double>(in[done + i]);
      for (int64_t i = 0; i < length; i++) least = x[i] < least ? x[i] : least;
      if (least > 0)
        lgammas_of_positive(x, length, y);
      else
        lgammas_by_reflection(x, length, y);
      for (int64_t i = 0; i < length; i++) out[done + i] = static_cast<float>(fix_special_values(x[i], y[i]));
    }
  }
};

}  // namespace

void fill_lgammas(const float* in, int64_t n, float* out) {
  run_widest<FillWithLgammas>(in, n, out);
}

}  // namespace thunder
