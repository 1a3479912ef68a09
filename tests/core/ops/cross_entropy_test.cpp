// cross_entropy, nll_loss and mse_loss.
#include "support/gradients.h"

namespace thunder {
namespace {

// log(softmax(row))[i]
double log_softmax_at(const Doubles& row, size_t i) {
  double sum = 0;
  for (double v : row) sum += std::exp(v);
  return row[i] - std::log(sum);
}
const Doubles kRow0{0.5, -1, 2}, kRow1{1, 0, -0.5};
Tensor* logits(Eager& e) { return e.tensor({2, 3}, {0.5, -1, 2, 1, 0, -0.5}, DType::f64); }
Tensor* classes(Eager& e, double a, double b) { return e.tensor({2}, {a, b}, DType::i64); }

TEST(CrossEntropy, is_the_mean_of_minus_log_p) {
  Eager e;
  Tensor* loss = e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, 0))});
  EXPECT_EQ(type(loss), "f64[]");
  EXPECT_NEAR(values(loss)[0], -(log_softmax_at(kRow0, 2) + log_softmax_at(kRow1, 0)) / 2, 1e-14);
  const Doubles rows = values(e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, 0)), Any(), any(-100), any("none")}));
  EXPECT_NEAR(rows[1], -log_softmax_at(kRow1, 0), 1e-14);
}

TEST(CrossEntropy, divides_by_the_weights_of_the_targets) {
  Eager e;
  Tensor* w = e.tensor({3}, {3, 1, 2}, DType::f64);
  const double sum = -2 * log_softmax_at(kRow0, 2) - 3 * log_softmax_at(kRow1, 0);
  EXPECT_NEAR(values(e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, 0)), any(w)}))[0], sum / 5, 1e-14);
  EXPECT_NEAR(values(e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, 0)), any(w), any(-100), any("sum")}))[0], sum, 1e-14);
}

TEST(CrossEntropy, leaves_ignored_rows_out) {
  Eager e;
  EXPECT_NEAR(values(e.run("cross_entropy", {any(logits(e)), any(classes(e, -100, 1))}))[0], -log_softmax_at(kRow1, 1), 1e-14);
  EXPECT_NEAR(values(e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, 7)), Any(), any(7)}))[0], -log_softmax_at(kRow0, 2), 1e-14);
  EXPECT_TRUE(std::isnan(values(e.run("cross_entropy", {any(logits(e)), any(classes(e, -100, -100))}))[0]));
}

TEST(CrossEntropy, smooths_labels) {
  Eager e;
  Tensor* loss = e.run("cross_entropy", {any(logits(e)), any(classes(e, 2, -100)), Any(), any(-100), any("mean"), any(0.3)});
  const double all = log_softmax_at(kRow0, 0) + log_softmax_at(kRow0, 1) + log_softmax_at(kRow0, 2);
  EXPECT_NEAR(values(loss)[0], -0.7 * log_softmax_at(kRow0, 2) - 0.1 * all, 1e-14);
}

TEST(CrossEntropy, takes_probabilities) {
  Eager e;
  Tensor* q = e.tensor({2, 3}, {0.2, 0.3, 0.5, 1, 0, 0}, DType::f64);
  const double sum = -(0.2 * log_softmax_at(kRow0, 0) + 0.3 * log_softmax_at(kRow0, 1) + 0.5 * log_softmax_at(kRow0, 2)) - log_softmax_at(kRow1, 0);
  EXPECT_NEAR(values(e.run("cross_entropy", {any(logits(e)), any(q)}))[0], sum / 2, 1e-14);
}

TEST(CrossEntropy, takes_one_row_and_images) {
  Eager e;
  EXPECT_NEAR(values(e.run("cross_entropy", {any(e.tensor({3}, kRow0, DType::f64)), any(e.scalar(1, DType::i64))}))[0], -log_softmax_at(kRow0, 1), 1e-14);
  // [batch 1, classes 2, pixels 2]: the classes of pixel 0 are 1 and 3, those of pixel 1 are 2 and 2.
  Tensor* x = e.tensor({1, 2, 2}, {1, 2, 3, 2}, DType::f64);
  const Doubles y = values(e.run("cross_entropy", {any(x), any(e.tensor({1, 2}, {1, 0}, DType::i64)), Any(), any(-100), any("none")}));
  EXPECT_NEAR(y[0], std::log(1 + std::exp(-2)), 1e-14);
  EXPECT_NEAR(y[1], std::log(2), 1e-14);
}

TEST(CrossEntropy, names_a_class_that_does_not_exist) {
  Eager e;
  const std::string message = e.refused("cross_entropy", {any(logits(e)), any(classes(e, 0, 3))});
  EXPECT_NE(message.find("index 3 is out of range for dim 1 of size 3"), message.npos) << message;
  EXPECT_NE(e.refused("cross_entropy", {any(logits(e)), any(classes(e, 0, -1))}), "");
}

TEST(CrossEntropy, names_wrong_targets) {
  Eager e;
  EXPECT_EQ(e.refused("cross_entropy", {any(logits(e)), any(e.tensor({2}, {0, 1}))}),
            "cross_entropy: class indices must be integers, got f32; input is f64[2, 3], target is f32[2]");
  EXPECT_EQ(e.refused("cross_entropy", {any(logits(e)), any(classes(e, 0, 1)), Any(), any(-100), any("avg")}),
            "cross_entropy: reduction must be 'none', 'mean' or 'sum', got 'avg'");
}

TEST(CrossEntropy, has_gradients_of_gradients) {
  for (const char* reduction : {"none", "mean", "sum"})
    for (double smoothing : {0.0, 0.2}) {
      SCOPED_TRACE(testing::Message() << reduction << " " << smoothing);
      const EagerFunction f = [&](Eager& e, const std::vector<Tensor*>& x) {
        Tensor* y = e.tensor({4}, {0, 2, 1, 2}, DType::i64);
        return e.run("cross_entropy", {any(x[0]), any(y), any(e.tensor({3}, {0.5, 2, 1}, DType::f64)), any(1), any(reduction), any(smoothing)});
      };
      expect_gradients({numbers({4, 3}, 1)}, f);
      expect_second_gradients({numbers({4, 3}, 1)}, f);
    }
}

TEST(CrossEntropy, has_gradients_for_probabilities_and_weights) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run("cross_entropy", {any(x[0]), any(x[1]), any(x[2]), any(-100), any("mean"), any(0.1)});
  };
  expect_gradients({numbers({4, 3}, 1), numbers({4, 3}, 2, 0, 1), numbers({3}, 3, 0.5, 2)}, f);
  const EagerFunction input_only = [](Eager& e, const std::vector<Tensor*>& x) {
    const Numbers q = numbers({2, 3, 2}, 2, 0, 1);
    return e.run("cross_entropy", {any(x[0]), any(e.tensor(q.shape, q.values, DType::f64))});
  };
  expect_gradients({numbers({2, 3, 2}, 1)}, input_only);
}

TEST(NllLoss, picks_the_class_of_each_row) {
  Eager e;
  Tensor* logs = e.tensor({2, 2}, {-1, -2, -3, -4});
  EXPECT_EQ(values(e.run("nll_loss", {any(logs), any(classes(e, 1, 0))})), (Doubles{2.5}));
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("nll_loss", {any(x[0]), any(e.tensor({2}, {1, 0}, DType::i64)), any(x[1])}); };
  expect_gradients({numbers({2, 3}, 1), numbers({3}, 2, 0.5, 2)}, f);
}

TEST(MseLoss, reduces_squared_differences) {
  Eager e;
  Tensor *x = e.tensor({2}, {1, 5}), *y = e.tensor({2}, {0, 2});
  EXPECT_EQ(values(e.run("mse_loss", {any(x), any(y)})), (Doubles{5}));
  EXPECT_EQ(values(e.run("mse_loss", {any(x), any(y), any("sum")})), (Doubles{10}));
  EXPECT_EQ(values(e.run("mse_loss", {any(x), any(y), any("none")})), (Doubles{1, 9}));
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("mse_loss", {any(x[0]), any(x[1])}); };
  expect_gradients({numbers({2, 3}, 1), numbers({3}, 2)}, f);
}

}  // namespace
}  // namespace thunder
