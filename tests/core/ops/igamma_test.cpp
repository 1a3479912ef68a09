// igamma and igammac: identities over their whole domain, its borders, and gradients.
#include <cmath>
#include <limits>

#include "support/gradients.h"

namespace thunder {
namespace {

double value_of(std::string_view op, double a, double x) {
  Eager e;
  return values(e.run(op, {any(e.tensor({1}, {a}, DType::f64)), any(e.tensor({1}, {x}, DType::f64))}))[0];
}
void expect_relative(double got, double expected, double within) {
  EXPECT_NEAR(got, expected, within * std::fabs(expected)) << expected;
}

TEST(Igamma, of_one_half_is_the_error_function) {
  for (const double x : {1e-12, 0.01, 0.3, 0.9, 1.2, 3.0, 20.0, 100.0, 600.0}) {
    expect_relative(value_of("igamma", 0.5, x), std::erf(std::sqrt(x)), 1e-14);
    expect_relative(value_of("igammac", 0.5, x), std::erfc(std::sqrt(x)), 1e-12);
  }
}

TEST(Igamma, of_whole_shapes_is_a_sum_of_powers) {
  for (const int n : {1, 2, 7, 30, 150})
    for (const double x : {0.05, 0.7, 5.0, 31.0, 160.0, 400.0}) {
      double sum = 0, term = std::exp(-x);
      for (int k = 0; k < n; k++) sum += term, term *= x / (k + 1);
      expect_relative(value_of("igammac", n, x), sum, 1e-12);
    }
}

TEST(Igamma, of_large_shapes_goes_on_as_its_expansion) {
  for (const double x : {0.997e6, 0.9999e6, 1e6, 1.0001e6, 1.003e6})
    for (const char* op : {"igamma", "igammac"}) EXPECT_NEAR(value_of(op, std::nextafter(1e6, 2e6), x), value_of(op, 1e6, x), 1e-11) << op << " " << x;
  EXPECT_NEAR(value_of("igamma", 1e12, 1e12) + value_of("igammac", 1e12, 1e12), 1, 1e-15);
}

TEST(Igamma, has_pytorchs_borders) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value_of("igamma", 2, 0), 0);
  EXPECT_EQ(value_of("igammac", 2, kInfinity), 0);
  EXPECT_EQ(value_of("igamma", 0, 3), 1);
  EXPECT_EQ(value_of("igammac", kInfinity, 3), 1);
  for (const auto& [a, x] : {std::pair{0.0, 0.0}, {-1.0, 2.0}, {1.0, -2.0}, {kInfinity, kInfinity}}) EXPECT_TRUE(std::isnan(value_of("igamma", a, x))) << a << " " << x;
}

TEST(Igamma, has_a_gradient_in_other) {
  const Numbers x = numbers({2, 3}, 1, 0.2, 6);
  for (const char* op : {"igamma", "igammac"})
    expect_gradients({x}, [op](Eager& e, const std::vector<Tensor*>& t) {
      return e.run(op, {any(e.tensor({3}, {0.5, 1, 4}, DType::f64)), any(t[0])});
    });
}

}  // namespace
}  // namespace thunder
