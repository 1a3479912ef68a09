// batch_norm and the running statistics after a batch.
#include <cmath>

#include "support/gradients.h"

namespace thunder {
namespace {

TEST(BatchNorm, standardises_each_channel_over_the_batch) {
  Eager e;
  Tensor* x = e.tensor({2, 2, 1}, {1, 10, 3, 30});
  Tensor* out = e.run("batch_norm", {any(x), Any(), Any(), any(e.tensor({2}, {1, 2})), any(e.tensor({2}, {0, 5})), any(true), any(0.1), any(0.0)});
  EXPECT_EQ(values(out), (Doubles{-1, 3, 1, 7}));
}

// The variance is made from a guess at the mean, of the first rows: here these lie far away from all others, and both far from 0.
TEST(BatchNorm, survives_first_rows_that_are_no_sample) {
  Eager e;
  constexpr int64_t kRows = 1024, kFirst = kRows / 64;
  for (const double far : {0.0, 10.0, 1e4}) {
    std::vector<double> x;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < kRows; i++) x.push_back(1000 + (i < kFirst ? far : static_cast<double>(i % 5)));
    for (double v : x) mean += v / kRows;
    for (double v : x) variance += (v - mean) * (v - mean) / kRows;
    const Doubles y = values(e.run("batch_norm", {any(e.tensor({kRows, 1}, x)), Any(), Any(), Any(), Any(), any(true), any(0.1), any(0.0)}));
    for (size_t i = 0; i < x.size(); i++) EXPECT_NEAR(y[i], (x[i] - mean) / std::sqrt(variance), 1e-4) << far;
  }
}

TEST(BatchNorm, of_a_channel_that_does_not_change_is_zero) {
  Eager e;
  const std::vector<double> x(3000, 1e6 + 0.3);
  const Doubles y = values(e.run("batch_norm", {any(e.tensor({1000, 3}, x)), Any(), Any(), Any(), Any(), any(true)}));
  for (double v : y) ASSERT_NEAR(v, 0, 1e-3);
}

TEST(BatchNorm, uses_running_statistics_unless_training) {
  Eager e;
  Tensor *mean = e.tensor({2}, {1, 2}), *variance = e.tensor({2}, {4, 16});
  Tensor* out = e.run("batch_norm", {any(e.tensor({1, 2}, {5, 10})), any(mean), any(variance), Any(), Any(), any(false), any(0.1), any(0.0)});
  EXPECT_EQ(values(out), (Doubles{2, 2}));
}

TEST(BatchNorm, moves_the_running_statistics) {
  Eager e;
  Tensor *x = e.tensor({2, 1}, {1, 3}), *mean = e.tensor({1}, {10}), *variance = e.tensor({1}, {8});
  Tensor* out[3];
  std::array args{any(x), any(mean), any(variance), Any(), Any(), any(0.25), any(0.0)};
  e.scope().invoke("batch_norm_update", args, nullptr, out, 3, nullptr);
  EXPECT_EQ(values(out[0]), (Doubles{-1, 1}));
  EXPECT_EQ(values(out[1]), (Doubles{0.75 * 10 + 0.25 * 2}));
  EXPECT_EQ(values(out[2]), (Doubles{0.75 * 8 + 0.25 * 2})) << "the unbiased variance of 1 and 3 is 2";
  EXPECT_EQ(values(mean), (Doubles{10})) << "the op itself writes nothing";
}

TEST(BatchNorm, gives_the_statistics_that_it_standardises_by) {
  Eager e;
  Tensor* out[2];
  std::array args{any(e.tensor({2, 2, 1}, {1, 10, 3, 30})), any(3.0)};
  e.scope().invoke("batch_norm_stats", args, nullptr, out, 2, nullptr);
  EXPECT_EQ(values(out[0]), (Doubles{2, 20}));
  EXPECT_EQ(values(out[1])[0], 0.5);
  EXPECT_NEAR(values(out[1])[1], 1 / std::sqrt(103.0), 1e-7);
}

TEST(BatchNorm, names_what_does_not_fit) {
  Eager e;
  EXPECT_EQ(e.refused("batch_norm", {any(e.tensor({1, 2}, {1, 2})), Any(), Any(), Any(), Any(), any(true)}),
            "batch_norm: training needs more than one value in each channel, got input f32[1, 2]");
  EXPECT_EQ(e.refused("batch_norm", {any(e.tensor({1, 2}, {1, 2})), Any(), Any()}),
            "batch_norm: running_mean and running_var must be given unless training");
}

TEST(BatchNorm, has_gradients_of_gradients_while_training) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run("batch_norm", {any(x[0]), Any(), Any(), any(x[1]), any(x[2]), any(true), any(0.1), any(1e-3)});
  };
  expect_gradients({numbers({3, 2, 2}, 1), numbers({2}, 2), numbers({2}, 3)}, f);
  expect_second_gradients({numbers({3, 2, 2}, 1), numbers({2}, 2), numbers({2}, 3)}, f);
}

TEST(BatchNorm, has_gradients_with_running_statistics) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run("batch_norm", {any(x[0]), any(x[1]), any(x[2]), any(x[3]), any(x[4])});
  };
  expect_gradients({numbers({3, 2}, 1), numbers({2}, 2), numbers({2}, 3, 0.5, 2), numbers({2}, 4), numbers({2}, 5)}, f);
}

}  // namespace
}  // namespace thunder
