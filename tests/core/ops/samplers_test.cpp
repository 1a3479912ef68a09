// Draws by tries, and their slopes, against integrals of their densities.
#include "ops/samplers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace thunder::samplers {
namespace {

// The distribution of a gamma variable by its series.
double distribution(double shape, double x) {
  double term = std::exp(shape * std::log(x) - x - std::lgamma(shape + 1)), sum = 0;
  for (double k = 1; term > 1e-18 * sum || shape + k < x; k++) sum += term, term *= x / (shape + k);
  return sum;
}

TEST(Samplers, slopes_of_gamma_variables_keep_the_distribution_as_it_is) {
  for (const double shape : {0.05, 0.7, 1.0, 3.5, 40.0, 2000.0})
    for (const double x : {shape * 0.5, shape, shape * 1.3 + 0.2}) {
      const double step = shape * 1e-4, density = std::exp((shape - 1) * std::log(x) - x - std::lgamma(shape));
      if (density < 1e-8) continue;
      const double change = (distribution(shape + step, x) - distribution(shape - step, x)) / (2 * step);
      EXPECT_NEAR(gamma_slope(shape, x), -change / density, 1e-5 * std::fabs(change / density) + 1e-6) << shape << " at " << x;
    }
  // Where one formula ends and the other begins.
  EXPECT_NEAR(gamma_slope(99'999, 100'500), gamma_slope(100'001, 100'502), 1e-7);
}

TEST(Samplers, share_small_values_as_the_power_of_the_distribution_says) {
  int below = 0;
  for (int i = 0; i < 20'000; i++) below += gamma(0.25, i / 20'000.0) < 1e-4;
  EXPECT_NEAR(below / 20'000.0, distribution(0.25, 1e-4), 0.01);
}

TEST(Samplers, take_what_has_no_distribution_as_a_limit_or_nan) {
  const double inf = std::numeric_limits<double>::infinity();
  for (auto draw : {gamma, poisson}) {
    EXPECT_EQ(draw(0, 0.5), 0);
    EXPECT_EQ(draw(inf, 0.5), inf);
    EXPECT_TRUE(std::isnan(draw(-1, 0.5)) && std::isnan(draw(std::nan(""), 0.5)));
  }
  EXPECT_EQ(gamma_slope(2, 0), 0);
  EXPECT_EQ(gamma_slope(2, inf), inf);
  EXPECT_TRUE(std::isnan(gamma_slope(2, -1)));
}

TEST(Samplers, count_rare_and_many_events) {
  for (const double rate : {0.01, 9.9, 10.1, 1e6}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 20'000; i++) {
      const double k = poisson(rate, i / 20'000.0);
      sum += k, squares += (k - rate) * (k - rate);
    }
    EXPECT_NEAR(sum / 20'000, rate, 5 * std::sqrt(rate / 20'000));
    EXPECT_NEAR(squares / 20'000, rate, rate * (rate < 1 ? 0.5 : 0.05));
  }
}

}  // namespace
}  // namespace thunder::samplers
