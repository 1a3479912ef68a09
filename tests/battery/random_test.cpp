// Random ops: what is drawn has the distribution that the op promises, and follows the random state.
#include <algorithm>
#include <map>
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
  // Mean and variance within five standard errors, and the ends. `kurtosis`: the fourth moment by the variance squared, 3 of a normal
  // distribution; at most so much.
  static void expect_moments(const std::vector<double>& x, double mean, double variance, double low, double high, double kurtosis = 5) {
    const auto n = static_cast<double>(x.size());
    double sum = 0, squares = 0;
    for (double v : x) {
      sum += v, squares += (v - mean) * (v - mean);
      EXPECT_GE(v, low);
      EXPECT_LE(v, high);
    }
    EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt((kurtosis - 1) / n));
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

TEST_F(Random, draws_by_parameters_have_the_promised_distributions) {
  const Tensors zeros = {tensor_of({kDraws}, DType::f32, std::vector<double>(kDraws, 0))};
  const TensorSpec like{{kDraws}};
  expect_moments(draw("rand_like", {like}, zeros), 0.5, 1.0 / 12, 0, 1);
  expect_moments(draw("randn_like", {like}, zeros), 0, 1, -8, 8);
  expect_moments(draw("uniform_like", {like, -2.0, 4.0}, zeros), 1, 3, -2, 4);
  expect_moments(draw("randint_like", {like, 0, 10}, zeros), 4.5, 8.25, 0, 9);
  expect_moments(draw("bernoulli", {like, 0.25}, zeros), 0.25, 0.1875, 0, 1);
  expect_moments(draw("normal", {3.0, 2.0, Ints{kDraws}}), 3, 4, -20, 26);
  expect_moments(draw("exponential", {like, 2.0}, zeros), 0.5, 0.25, 0, 20);
  expect_moments(draw("geometric", {like, 0.5}, zeros), 2, 2, 1, 40);
  for (const double shape : {0.1, 1.0, 7.0, 5000.0}) {
    const Tensors shapes = {tensor_of({kDraws}, DType::f64, std::vector<double>(kDraws, shape))};
    const TensorSpec of{{kDraws}, DType::f64};
    expect_moments(draw("standard_gamma", {of}, shapes), shape, shape, 0, 1e4, 3 + 6 / shape);
    const auto counts = draw("poisson", {of}, shapes);
    expect_moments(counts, shape, shape, 0, 1e4, 3 + 1 / shape);
    for (double k : counts) EXPECT_EQ(k, std::floor(k));
  }
  auto logs = draw("log_normal", {like, 1.0, 0.5}, zeros);
  for (double& v : logs) v = std::log(v);
  expect_moments(logs, 1, 0.25, -4, 6);
  auto angles = draw("cauchy", {like, 1.0, 2.0}, zeros);
  for (double& v : angles) v = std::atan((v - 1) / 2);
  expect_moments(angles, 0, std::pow(std::acos(-1), 2) / 12, -1.6, 1.6);
  // Numbers of another part of the stream than decides on what is dropped.
  auto other_normals = draw("randn", {Ints{2 * kDraws}});
  other_normals.erase(other_normals.begin(), other_normals.begin() + kDraws);
  expect_moments(draw("alpha_dropout", {like, 0.25, true}, {tensor_of({kDraws}, DType::f32, other_normals)}), 0, 1, -9, 9);
}

TEST_F(Random, first_values_have_the_deviation_of_their_formula) {
  const Tensors zeros = {tensor_of({200, 100}, DType::f32, std::vector<double>(20000, 0))};
  const TensorSpec like{{200, 100}};
  const auto uniform = [&](std::string_view op, std::vector<SampleArg> args, double bound) {
    args.insert(args.begin(), like);
    expect_moments(draw(op, args, zeros), 0, bound * bound / 3, -bound * 1.0001, bound * 1.0001);
  };
  uniform("init_uniform", {-0.5, 0.5}, 0.5);
  uniform("init_xavier_uniform", {2.0}, 2 * std::sqrt(6.0 / 300));
  uniform("init_kaiming_uniform", {std::sqrt(5.0)}, std::sqrt(1.0 / 100));
  uniform("init_kaiming_uniform", {0.0, "fan_out", "relu"}, std::sqrt(6.0 / 200));
  expect_moments(draw("init_normal", {like, 1.0, 2.0}, zeros), 1, 4, -20, 20);
  expect_moments(draw("init_xavier_normal", {like}, zeros), 0, 2.0 / 300, -1, 1);
  expect_moments(draw("init_kaiming_normal", {like, 0.0, "fan_in", "relu"}, zeros), 0, 2.0 / 100, -2, 2);
  expect_moments(draw("init_trunc_normal", {like, 0.0, 1.0, -1.0, 1.0}, zeros), 0, 0.29112, -1, 1);
  // Both tails: their moments are those of the normal density there.
  expect_moments(draw("init_trunc_normal", {like, 0.0, 1.0, 8.0, 9.0}, zeros), 8.121189, 0.0141485, 8, 9);
  expect_moments(draw("init_trunc_normal", {like, 0.0, 1.0, -9.0, -8.0}, zeros), -8.121189, 0.0141485, -9, -8);
}

TEST_F(Random, orthogonal_first_values_have_orthonormal_rows_or_columns) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{4, 9}, {9, 4}}) {
    const Tensors zeros = {tensor_of({rows, columns}, DType::f64, std::vector<double>(36, 0))};
    const auto x = draw("init_orthogonal", {TensorSpec{{rows, columns}, DType::f64}, 2.0}, zeros);
    const bool wide = rows < columns;
    for (int64_t i = 0; i < 4; i++)
      for (int64_t j = 0; j < 4; j++) {
        double product = 0;
        for (int64_t k = 0; k < 9; k++)
          product += wide ? x[static_cast<size_t>(i * 9 + k)] * x[static_cast<size_t>(j * 9 + k)]
                          : x[static_cast<size_t>(k * 4 + i)] * x[static_cast<size_t>(k * 4 + j)];
        EXPECT_NEAR(product, i == j ? 4 : 0, 1e-12);
      }
  }
}

TEST_F(Random, first_values_that_are_not_drawn_are_those_of_the_formula) {
  EXPECT_EQ(draw("init_eye", {TensorSpec{{2, 3}}}, {tensor_of({2, 3}, DType::f32, std::vector<double>(6, 7))}),
            (std::vector<double>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(draw("init_calculate_gain", {"tanh"}), (std::vector<double>{5.0 / 3}));
  EXPECT_EQ(draw("init_calculate_gain", {"leaky_relu", 0.5}), (std::vector<double>{std::sqrt(1.6)}));
}

TEST_F(Random, choices_follow_their_weights) {
  const Tensors weights = {tensor_of({3}, DType::f32, {1, 2, 1})};
  expect_moments(draw("multinomial", {TensorSpec{{3}}, kDraws, true}, weights), 1, 0.5, 0, 2);
  auto all = draw("multinomial", {TensorSpec{{3}}, 3}, weights);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<double>{0, 1, 2})) << "without replacement each is drawn once";
  auto order = draw("randperm", {1000});
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); i++) EXPECT_EQ(order[i], static_cast<double>(i));
  // Rows of equal logits: each class is as likely, and a hard sample is one of them.
  const auto hard = draw("gumbel_softmax", {TensorSpec{{kDraws, 2}}, 1.0, true}, {tensor_of({kDraws, 2}, DType::f32, std::vector<double>(2 * kDraws, 0))});
  expect_moments(hard, 0.5, 0.25, 0, 1);
}

TEST_F(Random, permutations_hold_each_number_once_and_any_number_anywhere) {
  for (const int64_t n : {1, 2, 3, 5, 255, 257, 8192, 8193, 30'001}) {
    auto order = draw("randperm", {n});
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); i++) ASSERT_EQ(order[i], static_cast<double>(i)) << n;
  }
  // Of many permutations of three numbers each is as common; the rows of a prim are permutations of their own.
  const Tensors state = {tensor_of({2}, DType::i64, {1, 0})};
  constexpr int64_t kRows = 60'000;
  const auto rows = draw("prims.philox_permutation", {TensorSpec{{2}, DType::i64}, 0, Ints{kRows, 3}}, state);
  std::map<double, int> counts;
  for (size_t i = 0; i < rows.size(); i += 3) counts[rows[i] * 100 + rows[i + 1] * 10 + rows[i + 2]]++;
  EXPECT_EQ(counts.size(), 6u);
  for (auto& [which, count] : counts) EXPECT_NEAR(count, kRows / 6, 500) << which;
  // A long one: where a number comes to lie does not depend on the number.
  const auto order = draw("randperm", {100'000});
  double product = 0;
  for (size_t i = 0; i < order.size(); i++) product += (static_cast<double>(i) - 49'999.5) * (order[i] - 49'999.5);
  EXPECT_LT(std::fabs(product / 100'000 / (100'000.0 * 100'000 / 12)), 0.015);
}

TEST_F(Random, feature_dropout_takes_whole_channels) {
  const auto kept = draw("feature_dropout", {TensorSpec{{100, 50, 4}}, 0.25, true}, {tensor_of({100, 50, 4}, DType::f32, std::vector<double>(20000, 1))});
  for (size_t i = 0; i < kept.size(); i++) EXPECT_EQ(kept[i], kept[i - i % 4]) << i;
  double sum = 0;
  for (double v : kept) sum += v;
  EXPECT_NEAR(sum / 20000, 1, 0.05);
}

TEST_F(Random, draws_repeat_with_the_state_and_differ_within_it) {
  const auto first = draw("rand", {Ints{100}});
  EXPECT_EQ(first, draw("rand", {Ints{100}}));
  EXPECT_NE(first[0], first[1]);
}

}  // namespace
}  // namespace thunder::battery
