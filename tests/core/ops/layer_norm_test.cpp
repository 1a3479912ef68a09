// layer_norm and rms_norm.
#include "support/gradients.h"

namespace thunder {
namespace {

using Dims = std::vector<int64_t>;

TEST(LayerNorm, standardises_scales_and_shifts_rows) {
  Eager e;
  // Mean 2, variance 4; then mean 10, variance 0.
  Tensor *x = e.tensor({2, 2}, {0, 4, 10, 10}), *w = e.tensor({2}, {1, 2}), *b = e.tensor({2}, {100, 200});
  Tensor* out = e.run("layer_norm", {any(x), any(Dims{2}), any(w), any(b), any(0.0)});
  EXPECT_EQ(type(out), "f32[2, 2]");
  EXPECT_EQ(values(out)[0], 99);
  EXPECT_EQ(values(out)[1], 202);
  EXPECT_EQ(values(e.run("layer_norm", {any(x), any(Dims{2}), Any(), Any(), any(5.0)}))[1], 2 / 3.0f);
}

TEST(LayerNorm, does_not_cancel_far_from_zero) {
  Eager e;
  const Doubles y = values(e.run("layer_norm", {any(e.tensor({4}, {10000, 10001, 10002, 10003})), any(Dims{4}), Any(), Any(), any(0.0)}));
  EXPECT_NEAR(y[0], -1.5 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(y[3], 1.5 / std::sqrt(1.25), 1e-6);
}

TEST(LayerNorm, normalises_over_several_dims) {
  Eager e;
  Tensor* x = e.tensor({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_NEAR(values(e.run("layer_norm", {any(x), any(Dims{2, 2})}))[0], -1.5 / std::sqrt(1.25 + 1e-5), 1e-6);
}

TEST(LayerNorm, names_shapes_that_do_not_fit) {
  Eager e;
  EXPECT_EQ(e.refused("layer_norm", {any(e.tensor({1, 2}, {1, 2})), any(Dims{3})}),
            "layer_norm: normalized_shape must be the last dims of input, got [3]; input is f32[1, 2]");
  EXPECT_EQ(e.refused("layer_norm", {any(e.tensor({1, 2}, {1, 2})), any(Dims{2}), any(e.tensor({1}, {1}))}),
            "layer_norm: weight must have shape [2], got [1]; input is f32[1, 2], weight is f32[1]");
}

TEST(LayerNorm, has_gradients_of_gradients) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run("layer_norm", {any(x[0]), any(Dims{4}), any(x[1]), any(x[2]), any(1e-3)});
  };
  expect_gradients({numbers({3, 4}, 1), numbers({4}, 2), numbers({4}, 3)}, f);
  expect_second_gradients({numbers({3, 4}, 1), numbers({4}, 2), numbers({4}, 3)}, f);
}

TEST(LayerNorm, has_gradients_without_parameters) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("layer_norm", {any(x[0]), any(Dims{2, 3})}); };
  expect_gradients({numbers({2, 2, 3}, 1)}, f);
}

TEST(RmsNorm, divides_by_the_root_mean_square) {
  Eager e;
  Tensor* x = e.tensor({2}, {1, 7});  // mean square 25
  EXPECT_EQ(values(e.run("rms_norm", {any(x), any(Dims{2}), any(e.tensor({2}, {1, 10})), any(0.0)}))[1], 14);
  EXPECT_EQ(values(e.run("rms_norm", {any(e.tensor({2}, {0, 0})), any(Dims{2})})), (Doubles{0, 0})) << "eps has a default";
}

TEST(RmsNorm, has_gradients_of_gradients) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("rms_norm", {any(x[0]), any(Dims{4}), any(x[1])}); };
  expect_gradients({numbers({3, 4}, 1), numbers({4}, 2)}, f);
  expect_second_gradients({numbers({3, 4}, 1), numbers({4}, 2)}, f);
}

}  // namespace
}  // namespace thunder
