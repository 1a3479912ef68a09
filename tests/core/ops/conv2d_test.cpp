// conv2d and max_pool2d against naive loops.
#include <limits>

#include "support/gradients.h"

namespace thunder {
namespace {

using Dims = std::vector<int64_t>;

struct Geometry {
  Dims image, weight, stride, padding, dilation;
  int64_t groups;
};
const std::vector<Geometry> kGeometries{
    {{2, 3, 5, 4}, {4, 3, 3, 2}, {1, 1}, {0, 0}, {1, 1}, 1},
    {{1, 4, 7, 6}, {6, 2, 3, 2}, {2, 3}, {1, 2}, {2, 1}, 2},
    {{2, 4, 4, 4}, {4, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 4},
    {{1, 2, 6, 6}, {3, 2, 2, 2}, {3, 2}, {0, 1}, {1, 2}, 1},
};

Numbers naive(const Numbers& x, const Numbers& w, const Geometry& g) {
  const Dims& xs = g.image;
  const Dims& ws = g.weight;
  auto extent = [&](size_t i) { return (xs[2 + i] + 2 * g.padding[i] - (ws[2 + i] - 1) * g.dilation[i] - 1) / g.stride[i] + 1; };
  Numbers out{{xs[0], ws[0], extent(0), extent(1)}, {}};
  const int64_t per_group = ws[0] / g.groups;
  for (int64_t n = 0; n < xs[0]; n++)
    for (int64_t o = 0; o < ws[0]; o++)
      for (int64_t y = 0; y < out.shape[2]; y++)
        for (int64_t z = 0; z < out.shape[3]; z++) {
          double sum = 0;
          for (int64_t c = 0; c < ws[1]; c++)
            for (int64_t i = 0; i < ws[2]; i++)
              for (int64_t j = 0; j < ws[3]; j++) {
                const int64_t row = y * g.stride[0] - g.padding[0] + i * g.dilation[0], column = z * g.stride[1] - g.padding[1] + j * g.dilation[1];
                if (row < 0 || row >= xs[2] || column < 0 || column >= xs[3]) continue;
                const int64_t channel = o / per_group * ws[1] + c;
                sum += x.values[static_cast<size_t>(((n * xs[1] + channel) * xs[2] + row) * xs[3] + column)] *
                       w.values[static_cast<size_t>(((o * ws[1] + c) * ws[2] + i) * ws[3] + j)];
              }
          out.values.push_back(sum);
        }
  return out;
}

Tensor* convolve(Eager& e, Tensor* x, Tensor* w, Tensor* bias, const Geometry& g) {
  return e.run("conv2d", {any(x), any(w), bias ? any(bias) : Any(), any(g.stride), any(g.padding), any(g.dilation), any(static_cast<int>(g.groups))});
}

TEST(Conv2d, equals_naive_loops) {
  for (const Geometry& g : kGeometries) {
    Eager e;
    const Numbers x = numbers(g.image, 1), w = numbers(g.weight, 2), expected = naive(x, w, g);
    Tensor* out = convolve(e, e.tensor(x.shape, x.values, DType::f64), e.tensor(w.shape, w.values, DType::f64), nullptr, g);
    const Doubles found = values(out);
    ASSERT_EQ(found.size(), expected.values.size());
    for (size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected.values[i], 1e-13) << i;
  }
}

TEST(Conv2d, has_gradients_of_gradients) {
  for (const Geometry& g : kGeometries) {
    const EagerFunction f = [&](Eager& e, const std::vector<Tensor*>& x) { return convolve(e, x[0], x[1], x[2], g); };
    const std::vector inputs{numbers(g.image, 1), numbers(g.weight, 2), numbers({g.weight[0]}, 3)};
    expect_gradients(inputs, f);
    expect_second_gradients(inputs, f);
  }
}

TEST(Conv2d, takes_one_number_for_both_dims_and_an_unbatched_image) {
  Eager e;
  Tensor* out = e.run("conv2d", {any(e.tensor({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})), any(e.tensor({1, 1, 1, 1}, {2})), any(e.tensor({1}, {100})), any(2)});
  EXPECT_EQ(type(out), "f32[1, 2, 2]");
  EXPECT_EQ(values(out), (Doubles{102, 106, 114, 118}));
}

TEST(Conv2d, of_an_image_that_is_all_padding_is_zero) {
  Eager e;
  Tensor* out = e.run("conv2d", {any(e.tensor({1, 1, 0, 3}, {})), any(e.tensor({1, 1, 1, 1}, {2})), Any(), any(1), any(1)});
  EXPECT_EQ(type(out), "f32[1, 1, 2, 5]");
  EXPECT_EQ(values(out), Doubles(10, 0));
}

TEST(Conv2d, names_what_does_not_fit) {
  Eager e;
  EXPECT_EQ(e.refused("conv2d", {any(e.tensor({1, 2, 1, 1}, {1, 2})), any(e.tensor({1, 1, 1, 1}, {1}))}),
            "conv2d: input has 2 channels, weight takes 1 in 1 groups; input is f32[1, 2, 1, 1], weight is f32[1, 1, 1, 1]");
}

Tensor* pool(Eager& e, Tensor* x, int size, int stride, int padding, bool ceil_mode) {
  return e.run("max_pool2d", {any(x), any(size), any(stride), any(padding), any(1), any(ceil_mode)});
}

TEST(MaxPool2d, takes_the_largest_of_each_window) {
  Eager e;
  Tensor* x = e.tensor({1, 1, 3, 4}, {1, 2, 3, 4, 8, 7, 6, 5, 9, 9, 9, 10});
  EXPECT_EQ(values(e.run("max_pool2d", {any(x), any(2)})), (Doubles{8, 6}));
  EXPECT_EQ(values(pool(e, x, 2, 2, 0, true)), (Doubles{8, 6, 9, 10}));
  EXPECT_EQ(values(pool(e, x, 3, 2, 1, false)), (Doubles{8, 7, 9, 10}));
}

TEST(MaxPool2d, says_where_the_first_of_equals_was) {
  Eager e;
  Tensor* out[2];
  std::array args{any(e.tensor({1, 2, 2}, {1, 3, 3, 3})), any(2)};
  e.scope().invoke("max_pool2d_with_indices", args, nullptr, out, 2, nullptr);
  EXPECT_EQ(type(out[1]), "i64[1, 1, 1]");
  EXPECT_EQ(values(out[1]), (Doubles{1}));
}

TEST(MaxPool2d, lets_nan_win_and_knows_minus_infinity) {
  Eager e;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(values(pool(e, e.tensor({1, 2, 2}, {inf, nan, 1, 2}), 2, 2, 0, false))[0]));
  EXPECT_EQ(values(pool(e, e.tensor({1, 2, 2}, {-inf, -inf, -inf, -inf}), 2, 2, 0, false)), (Doubles{-inf}));
}

TEST(MaxPool2d, has_gradients_of_gradients) {
  // Overlapping windows: a pixel gathers from several.
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return pool(e, x[0], 3, 1, 1, false); };
  expect_gradients({numbers({2, 2, 4, 4}, 1)}, f);
  const EagerFunction squared = [&](Eager& e, const std::vector<Tensor*>& x) { return e.run("mul", {any(f(e, x)), any(f(e, x))}); };
  expect_second_gradients({numbers({1, 2, 4, 4}, 1)}, squared);
}

}  // namespace
}  // namespace thunder
