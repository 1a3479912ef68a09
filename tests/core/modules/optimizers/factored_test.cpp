// Adafactor against its formula in double, of a vector and of a matrix, whose state is that of its rows and columns.
#include "core/modules/fixture.h"

namespace thunder {
namespace {

struct Adafactor : Modules {
  static double root_mean_square(const Floats& x) {
    double sum = 0;
    for (float v : x) sum += static_cast<double>(v) * v;
    return std::sqrt(sum / static_cast<double>(x.size()));
  }
};

TEST_F(Adafactor, keeps_means_of_rows_and_columns) {
  auto p = wave({2, 3}), g = wave({2, 3}, 1);
  const Floats before = floats(*p), gradient = floats(*g);
  Values params;
  params.push(p);
  Optimizer optimizer(environment, "Adafactor", params, nullptr);
  EXPECT_EQ(name(optimizer.state()->find_tensor("row_var.0")->tensor->type()), "f32[2, 1]");
  EXPECT_EQ(name(optimizer.state()->find_tensor("col_var.0")->tensor->type()), "f32[1, 3]");
  eager([&](Scope& s, const Values& in, Values&) { optimizer.step(s, in); }, {g});
  ASSERT_EQ(error, "");
  double rows[2] = {}, columns[3] = {};
  for (size_t i = 0; i < 6; i++) {
    const double square = static_cast<double>(gradient[i]) * gradient[i];
    rows[i / 3] += square / 3, columns[i % 3] += square / 2;
  }
  Floats update, wanted;
  for (size_t i = 0; i < 6; i++) {
    const double variance = rows[i / 3] * columns[i % 3] / ((rows[0] + rows[1]) / 2);
    update.push_back(static_cast<float>(gradient[i] / std::sqrt(variance)));
  }
  const double step = std::max(1e-3, root_mean_square(before)) * 0.01 / std::max(1.0, root_mean_square(update));
  for (size_t i = 0; i < 6; i++) wanted.push_back(before[i] - static_cast<float>(step * update[i]));
  expect_near(floats(*p), wanted, 1e-6f);
}

TEST_F(Adafactor, keeps_the_squares_of_a_vector) {
  auto p = wave({4});
  Values params;
  params.push(p);
  Optimizer optimizer(environment, "Adafactor", params, nullptr);
  EXPECT_EQ(name(optimizer.state()->find_tensor("variance.0")->tensor->type()), "f32[4]");
  Options o;
  const double one[] = {1.0};
  Any eps;
  eps.kind = ArgKind::reals, eps.count = 1, eps.fs = one;
  o.set("eps", eps);
  EXPECT_EQ(thrown([&] { Optimizer(environment, "Adafactor", params, &o); }),
            "Adafactor: eps must be two numbers, got 1");
}

}  // namespace
}  // namespace thunder
