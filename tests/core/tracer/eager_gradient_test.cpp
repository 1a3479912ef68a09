// Gradients on a tape keep their results alone, and can be differentiated all the same.
#include "support/gradients.h"

namespace thunder {
namespace {

EagerBuilder& builder(Eager& e) { return dynamic_cast<EagerScope&>(e.scope()).builder(); }

size_t held_values(Eager& e) {
  size_t held = 0;
  for (ValueId v = 0; v < builder(e).size(); v++) held += static_cast<bool>(builder(e).tensor(v));
  return held;
}

Tensor* gradient(Eager& e, Tensor* loss, Tensor* wrt) { return e.grad(loss, {wrt})[0]; }

Tensor* sum(Eager& e, Tensor* t) { return e.run("prims.sum", {any(t), any(std::vector<int64_t>{})}); }

// x after so many steps that each keep something for the backward.
Tensor* chain(Eager& e, Tensor* x, int steps) {
  for (int i = 0; i < steps; i++) x = e.run("mul", {any(e.run("sin", {any(x)})), any(x)});
  return x;
}

TEST(EagerGradient, keeps_its_results_alone) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {0.5, 1, 2}, DType::f64);
  Tensor* loss = sum(e, chain(e, x, 20));
  const size_t before = held_values(e), lines = builder(e).tape().size();
  gradient(e, loss, x);
  EXPECT_EQ(held_values(e), before + 1);
  EXPECT_EQ(builder(e).tape().size(), lines);
}

TEST(EagerGradient, through_a_view_keeps_its_results_alone) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {0.5, 1, 2}, DType::f64);
  Tensor* loss = sum(e, chain(e, e.run("view", {any(chain(e, x, 10)), any(std::vector<int64_t>{1, 3})}), 10));
  const size_t before = held_values(e), lines = builder(e).tape().size();
  gradient(e, loss, x);
  EXPECT_EQ(held_values(e), before + 1);
  EXPECT_EQ(builder(e).tape().size(), lines);
}

TEST(EagerGradient, of_the_third_order_is_right) {
  Eager e(true);
  Tensor* x = e.tensor({2}, {0.5, 2}, DType::f64);
  Tensor* loss = sum(e, e.run("sin", {any(x)}));
  Tensor* first = gradient(e, loss, x);
  Tensor* second = gradient(e, sum(e, first), x);
  Tensor* third = gradient(e, sum(e, second), x);
  for (size_t i = 0; i < 2; i++) {
    const double at = values(x)[i];
    EXPECT_NEAR(values(first)[i], std::cos(at), 1e-12);
    EXPECT_NEAR(values(second)[i], -std::sin(at), 1e-12);
    EXPECT_NEAR(values(third)[i], -std::cos(at), 1e-12);
  }
}

TEST(EagerGradient, taken_twice_before_either_is_differentiated_counts_for_both) {
  Eager e(true);
  Tensor *x = e.tensor({2}, {0.5, 2}, DType::f64), *y = e.tensor({2}, {3, 5}, DType::f64);
  Tensor* loss = sum(e, e.run("mul", {any(e.run("mul", {any(x), any(x)})), any(y)}));
  Tensor *by_x = gradient(e, loss, x), *by_y = gradient(e, loss, y);  // 2xy, x^2
  Tensor* both = sum(e, e.run("mul", {any(by_x), any(by_y)}));        // 2 x^3 y
  EXPECT_EQ(values(gradient(e, both, x)), (Doubles{6 * 0.25 * 3, 6 * 4 * 5}));
  EXPECT_EQ(values(gradient(e, both, y)), (Doubles{2 * 0.125, 2 * 8.}));
}

TEST(EagerGradient, is_differentiated_as_it_was_before_a_write) {
  Eager e(true);
  Tensor* x = e.tensor({2}, {0.5, 2}, DType::f64);
  Tensor* y = e.run("mul", {any(x), any(x)});
  Tensor* first = gradient(e, sum(e, e.run("mul", {any(y), any(x)})), x);  // 3x^2
  e.run("mul_", {any(y), any(100)});
  EXPECT_EQ(values(gradient(e, sum(e, first), x)), (Doubles{3, 12}));
}

TEST(EagerGradient, may_be_written_without_changing_another_one) {
  Eager e(true);
  Tensor *x = e.tensor({2}, {1, 2}, DType::f64), *y = e.tensor({2}, {3, 4}, DType::f64);
  Tensor* weights = e.tensor({4}, {10, 20, 30, 40}, DType::f64);
  Tensor* const parts[] = {x, y};
  Any list;
  list.kind = ArgKind::values, list.count = 2, list.ts = parts;
  Tensor* both = e.run("cat", {list});
  const auto found = e.grad(sum(e, e.run("mul", {any(both), any(weights)})), {x, y});
  Tensor *by_x = found[0], *by_y = found[1];
  e.run("mul_", {any(by_x), any(0)});
  EXPECT_EQ(values(by_y), (Doubles{30, 40}));
  EXPECT_EQ(values(e.run("add", {any(by_y), any(by_x)})), (Doubles{30, 40}));
  EXPECT_EQ(values(weights), (Doubles{10, 20, 30, 40}));
}

}  // namespace
}  // namespace thunder
