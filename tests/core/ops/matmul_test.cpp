// matmul, linear and the blocked matrix_product under them, against naive loops.
// covers: core/ops/matrix_product.cpp
#include "ops/matrix_product.h"

#include "support/gradients.h"

namespace thunder {
namespace {

TEST(MatrixProduct, equals_naive_loops_across_blocks_and_strides) {
  // Sizes on both sides of every block and tile.
  for (auto [m, n, k] : {std::array{1, 1, 1}, {5, 17, 3}, {33, 257, 129}, {32, 256, 128}, {2, 300, 260}}) {
    const Numbers a = numbers({m, k}, 1), b = numbers({n, k}, 2);
    Doubles out(static_cast<size_t>(m * n));
    Operand left, right;
    left.data = a.values.data(), left.outer = AxisPositions::strided(k), left.inner = AxisPositions::strided(1);
    right.data = b.values.data(), right.outer = AxisPositions::strided(k), right.inner = AxisPositions::strided(1);
    matrix_product(DType::f64, left, right, {out.data(), AxisPositions::strided(1), AxisPositions::strided(m)}, m, n, k);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int x = 0; x < k; x++) sum += a.values[static_cast<size_t>(i * k + x)] * b.values[static_cast<size_t>(j * k + x)];
        ASSERT_NEAR(out[static_cast<size_t>(j * m + i)], sum, 1e-12) << m << " x " << n << " x " << k << " at " << i << ", " << j;
      }
  }
}

TEST(MatrixProduct, wraps_integers) {
  const std::vector<int32_t> a{2147483647, 2}, b{2, 3};
  int32_t out = 0;
  Operand left, right;
  left.data = a.data(), left.inner = AxisPositions::strided(1);
  right.data = b.data(), right.inner = AxisPositions::strided(1);
  matrix_product(DType::i32, left, right, {&out, {}, {}}, 1, 1, 2);
  EXPECT_EQ(out, 4);
}

TEST(MatrixProduct, sums_bf16_in_f32) {
  // 256 + 1 is no bf16: summed in bf16, the ones would vanish.
  std::vector<bf16> a(33, bf16(1)), b(33, bf16(1));
  a[0] = bf16(256);
  bf16 out;
  Operand left, right;
  left.data = a.data(), left.inner = AxisPositions::strided(1);
  right.data = b.data(), right.inner = AxisPositions::strided(1);
  matrix_product(DType::bf16, left, right, {&out, {}, {}}, 1, 1, 33);
  EXPECT_EQ(static_cast<float>(out), 288);
}

TEST(Matmul, multiplies_matrices) {
  Eager e;
  Tensor* out = e.run("matmul", {any(e.tensor({2, 3}, {1, 2, 3, 4, 5, 6})), any(e.tensor({3, 2}, {1, 0, 0, 1, 2, 2}))});
  EXPECT_EQ(type(out), "f32[2, 2]");
  EXPECT_EQ(values(out), (Doubles{7, 8, 16, 17}));
}

TEST(Matmul, takes_vectors_on_either_side) {
  Eager e;
  Tensor *v = e.tensor({2}, {1, 10}), *m = e.tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(e.run("matmul", {any(v), any(v)})), (Doubles{101}));
  EXPECT_EQ(type(e.run("matmul", {any(v), any(v)})), "f32[]");
  EXPECT_EQ(values(e.run("matmul", {any(v), any(m)})), (Doubles{31, 42}));
  EXPECT_EQ(values(e.run("matmul", {any(m), any(v)})), (Doubles{21, 43}));
}

TEST(Matmul, broadcasts_batches) {
  Eager e;
  Tensor *a = e.tensor({2, 1, 1, 2}, {1, 2, 3, 4}), *b = e.tensor({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  Tensor* out = e.run("matmul", {any(a), any(b)});
  EXPECT_EQ(type(out), "f32[2, 3, 1, 1]");
  EXPECT_EQ(values(out), (Doubles{1, 2, 3, 3, 4, 7}));
  EXPECT_EQ(type(e.run("matmul", {any(a), any(e.tensor({2, 5}, Doubles(10, 1)))})), "f32[2, 1, 1, 5]");
}

TEST(Matmul, sums_over_nothing_to_zero) {
  Eager e;
  Tensor* out = e.run("matmul", {any(e.tensor({2, 0}, {})), any(e.tensor({0, 3}, {}))});
  EXPECT_EQ(values(out), Doubles(6, 0));
}

TEST(Matmul, names_what_does_not_fit) {
  Eager e;
  std::string message = e.refused("matmul", {any(e.tensor({1, 2}, {1, 2})), any(e.tensor({3, 1}, {1, 2, 3}))});
  EXPECT_EQ(message, "matmul: inner dimensions differ: got 2 and 3; input is f32[1, 2], other is f32[3, 1]");
}

TEST(Matmul, has_gradients_for_every_pair_of_ranks) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("matmul", {any(x[0]), any(x[1])}); };
  using Shapes = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  for (auto [a, b] : {Shapes{{3}, {3}}, {{3}, {3, 4}}, {{2, 3}, {3}}, {{2, 3}, {3, 4}}, {{2, 5, 3}, {3, 4}}, {{5, 3}, {2, 3, 4}},
                      {{2, 1, 2, 3}, {4, 3, 2}}, {{3}, {2, 3, 4}}, {{2, 5, 3}, {3}}}) {
    SCOPED_TRACE(testing::PrintToString(a) + " x " + testing::PrintToString(b));
    expect_gradients({numbers(a, 1), numbers(b, 2)}, f);
    expect_second_gradients({numbers(a, 1), numbers(b, 2)}, f);
  }
}

TEST(Linear, adds_the_bias_to_each_row) {
  Eager e;
  Tensor* out = e.run("linear", {any(e.tensor({2, 2}, {1, 2, 3, 4})), any(e.tensor({1, 2}, {10, 1})), any(e.tensor({1}, {0.5}))});
  EXPECT_EQ(type(out), "f32[2, 1]");
  EXPECT_EQ(values(out), (Doubles{12.5, 34.5}));
}

TEST(Linear, rounds_bf16_once) {
  Eager e;
  // 257 is no bf16: rounded before the bias joins it would be 256, and so would the sum.
  Tensor *x = e.tensor({1, 2}, {256, 1}, DType::bf16), *w = e.tensor({1, 2}, {1, 1}, DType::bf16), *b = e.tensor({1}, {1}, DType::bf16);
  EXPECT_EQ(values(e.run("linear", {any(x), any(w), any(b)})), (Doubles{258}));
}

TEST(Linear, has_gradients) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) { return e.run("linear", {any(x[0]), any(x[1]), any(x[2])}); };
  expect_gradients({numbers({2, 4, 3}, 1), numbers({5, 3}, 2), numbers({5}, 3)}, f);
  expect_second_gradients({numbers({4, 3}, 1), numbers({5, 3}, 2), numbers({5}, 3)}, f);
  expect_gradients({numbers({4, 3}, 1), numbers({3}, 2), numbers({}, 3)}, f);
}

}  // namespace
}  // namespace thunder
