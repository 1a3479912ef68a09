// lgamma of many f32, against the C library's in long double.
#include "ops/lgammas.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace thunder {
namespace {

// Within one unit of the last place of what is exact, and equal where that is infinite or not a number.
void expect_close(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  fill_lgammas(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); i++) {
    int sign = 0;
    const long double exact = ::lgammal_r(static_cast<long double>(x[i]), &sign);
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(rounded)) {
      ASSERT_TRUE(std::isnan(y[i])) << x[i];
    } else if (std::isinf(rounded) || rounded == 0) {
      ASSERT_EQ(y[i], rounded) << x[i];
    } else {
      const long double unit = std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity()) - std::fabs(rounded);
      ASSERT_LE(std::fabs(static_cast<long double>(y[i]) - exact), unit) << x[i];
    }
  }
}

TEST(Lgammas, are_within_a_unit_of_the_last_place_everywhere) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (const auto& [low, high] : std::vector<std::pair<float, float>>{
           {0, 10}, {0.9999f, 1.0001f}, {1.9999f, 2.0001f}, {-10, 0}, {-2.4571f, -2.4569f}, {-1000, 0}, {1e30f, 3e38f}, {1e-44f, 1e-38f}}) {
    std::vector<float> x(5000);
    for (float& v : x) v = low + (high - low) * uniform(random);
    expect_close(x);
  }
  std::vector<float> x(20'000);
  for (float& v : x) v = std::bit_cast<float>(static_cast<uint32_t>(random()));
  expect_close(x);
}

TEST(Lgammas, of_the_special_numbers_are_exact) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
  expect_close({1, 2, 0, -0.0f, -1, -2, -17, kInf, -kInf, kNaN, 3, std::numeric_limits<float>::denorm_min()});
  expect_close({1});
  expect_close({});
}

}  // namespace
}  // namespace thunder
