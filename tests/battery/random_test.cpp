// Random ops: what is drawn has the distribution that the op promises, and follows the random state.
#include <cmath>

#include "battery/battery.h"

namespace thunder::battery {
namespace {

struct Random : Battery {
  std::vector<double> draw(std::string_view op, std::vector<SampleArg> args, const Tensors& tensors = {}) {
    Case c{&context->registry().get(op), {std::move(args), false}, std::string(op), ""};
    const Outcome out = run_eager(*context, c, tensors);
    EXPECT_EQ(out.error, "") << op;
    return out.values.empty() ? std::vector<double>() : out.values[0];
  }
  // Mean and variance within five standard errors, and the ends.
  static void expect_moments(const std::vector<double>& x, double mean, double variance, double low, double high) {
    const auto n = static_cast<double>(x.size());
    double sum = 0, squares = 0;
    for (double v : x) {
      sum += v, squares += (v - mean) * (v - mean);
      EXPECT_GE(v, low);
      EXPECT_LE(v, high);
    }
    EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(squares / n, variance, 10 * variance / std::sqrt(n));
  }
};
constexpr int64_t kDraws = 20000;

TEST_F(Random, draws_have_the_promised_distributions) {
  expect_moments(draw("rand", {Ints{kDraws}}), 0.5, 1.0 / 12, 0, 1);
  expect_moments(draw("randn", {Ints{kDraws}}), 0, 1, -8, 8);
  expect_moments(draw("uniform", {Ints{kDraws}, -2.0, 4.0}), 1, 3, -2, 4);
  expect_moments(draw("randint", {0, 10, Ints{kDraws}}), 4.5, 8.25, 0, 9);
}

TEST_F(Random, dropout_keeps_the_mean_and_scales_what_it_keeps) {
  const Tensors ones = {tensor_of({kDraws}, DType::f32, std::vector<double>(kDraws, 1))};
  const auto kept = draw("dropout", {TensorSpec{{kDraws}}, 0.25, true}, ones);
  expect_moments(kept, 1, 1.0 / 3, 0, 1.34);
  for (double v : kept) EXPECT_TRUE(v == 0 || std::fabs(v - 4.0 / 3) < 1e-6) << v;
}

TEST_F(Random, draws_repeat_with_the_state_and_differ_within_it) {
  const auto first = draw("rand", {Ints{100}});
  EXPECT_EQ(first, draw("rand", {Ints{100}}));
  EXPECT_NE(first[0], first[1]);
}

}  // namespace
}  // namespace thunder::battery
