// add, mul, div, pow ... : values, promotion, broadcasting, messages.
#include <cmath>
#include <limits>

#include "support/eager.h"

namespace thunder {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Add, broadcasts_both_ways) {
  Eager e;
  Tensor* sum = e.run("add", {any(e.tensor({2, 1}, {1, 2})), any(e.tensor({3}, {10, 20, 30}))});
  EXPECT_EQ(type(sum), "f32[2, 3]");
  EXPECT_EQ(values(sum), (Doubles{11, 21, 31, 12, 22, 32}));
}

TEST(Add, scales_the_second_operand_by_alpha) {
  Eager e;
  Tensor* sum = e.run("add", {any(e.tensor({2}, {1, 2}, DType::i64)), any(e.tensor({2}, {10, 20}, DType::i64)), any(3)});
  EXPECT_EQ(type(sum), "i64[2]");
  EXPECT_EQ(values(sum), (Doubles{31, 62}));
  EXPECT_EQ(values(e.run("sub", {any(e.scalar(1)), any(e.scalar(4)), any(0.5)})), (Doubles{-1}));
}

TEST(Add, promotes_before_it_scales) {
  Eager e;
  EXPECT_EQ(type(e.run("add", {any(e.scalar(1, DType::bf16)), any(2.0), any(3.0)})), "bf16[]");
  EXPECT_EQ(type(e.run("sub", {any(e.tensor({1}, {1}, DType::i64)), any(2.0), any(0.5)})), "f32[1]");
  std::string message = e.refused("add", {any(e.scalar(1, DType::i64)), any(2), any(0.5)});
  EXPECT_NE(message.find("add: alpha must not be real for operands of i64"), message.npos) << message;
}

TEST(Add, wraps_integers_around) {
  Eager e;
  Tensor* sum = e.run("add", {any(e.scalar(2147483647, DType::i32)), any(1)});
  EXPECT_EQ(values(sum), (Doubles{-2147483648.0}));
}

TEST(Add, names_shapes_that_do_not_broadcast) {
  Eager e;
  std::string message = e.refused("add", {any(e.tensor({2}, {1, 2})), any(e.tensor({3}, {1, 2, 3}))});
  EXPECT_NE(message.find("add: shapes [2] and [3] do not broadcast"), message.npos) << message;
  EXPECT_NE(message.find("input is f32[2], other is f32[3]"), message.npos) << message;
}

TEST(Promotion, follows_the_strength_of_operands) {
  Eager e;
  Tensor *i = e.scalar(3, DType::i64), *is = e.tensor({1}, {3}, DType::i64), *h = e.tensor({1}, {3}, DType::bf16);
  Tensor *f = e.tensor({1}, {3}), *d0 = e.scalar(3, DType::f64), *b = e.tensor({1}, {1}, DType::boolean), *u = e.tensor({1}, {3}, DType::u8);
  auto result = [&](Any x, Any y) { return std::string(name(e.run("mul", {x, y})->type().dtype)); };
  EXPECT_EQ(result(any(h), any(f)), "f32");
  EXPECT_EQ(result(any(h), any(d0)), "bf16") << "a 0-d tensor of the same category does not promote";
  EXPECT_EQ(result(any(is), any(d0)), "f64");
  EXPECT_EQ(result(any(is), any(2.5)), "f32");
  EXPECT_EQ(result(any(h), any(2.5)), "bf16");
  EXPECT_EQ(result(any(u), any(300)), "u8");
  EXPECT_EQ(result(any(u), any(i)), "u8");
  EXPECT_EQ(result(any(b), any(2)), "i64");
  EXPECT_EQ(result(any(b), any(b)), "bool");
  EXPECT_EQ(result(any(2), any(2.5)), "f32");
}

TEST(Div, makes_reals_of_integers) {
  Eager e;
  Tensor* q = e.run("div", {any(e.tensor({2}, {1, 7}, DType::i64)), any(2)});
  EXPECT_EQ(type(q), "f32[2]");
  EXPECT_EQ(values(q), (Doubles{0.5, 3.5}));
}

TEST(Div, rounds_quotients_as_asked) {
  Eager e;
  Tensor *a = e.tensor({4}, {7, -7, 7, -7}, DType::i64), *b = e.tensor({4}, {2, 2, -2, -2}, DType::i64);
  EXPECT_EQ(values(e.run("div", {any(a), any(b), any("trunc")})), (Doubles{3, -3, -3, 3}));
  EXPECT_EQ(values(e.run("div", {any(a), any(b), any("floor")})), (Doubles{3, -4, -4, 3}));
  Tensor *x = e.tensor({3}, {1, -1, 7.5}, DType::f64), *y = e.tensor({3}, {0.1, 0.1, -2}, DType::f64);
  EXPECT_EQ(values(e.run("div", {any(x), any(y), any("floor")})), (Doubles{9, -10, -4}));
  EXPECT_EQ(values(e.run("div", {any(x), any(y), any("trunc")})), (Doubles{10, -10, -3}));
}

TEST(Div, refuses_an_integer_divided_by_zero) {
  Eager e;
  std::string message = e.refused("div", {any(e.tensor({1}, {1}, DType::i64)), any(0), any("floor")});
  EXPECT_NE(message.find("zero"), message.npos) << message;
}

TEST(Pow, knows_its_special_points) {
  Eager e;
  EXPECT_EQ(values(e.run("pow", {any(e.tensor({3}, {0, 2, -2})), any(2)})), (Doubles{0, 4, 4}));
  EXPECT_EQ(values(e.run("pow", {any(e.tensor({2}, {4, 9})), any(0.5)})), (Doubles{2, 3}));
  EXPECT_EQ(values(e.run("pow", {any(e.tensor({2}, {3, -2}, DType::i64)), any(3)})), (Doubles{27, -8}));
  EXPECT_EQ(values(e.run("pow", {any(e.tensor({3}, {1, -1, 2}, DType::i64)), any(e.tensor({3}, {-1, -3, -1}, DType::i64))})),
            (Doubles{1, -1, 0}));
  EXPECT_EQ(type(e.run("pow", {any(e.tensor({1}, {3}, DType::i64)), any(2.0)})), "f32[1]");
}

// As PyTorch does; the nearest float is one further away.
TEST(Pow, of_three_rounds_as_two_products) {
  Eager e;
  EXPECT_EQ(values(e.run("pow", {any(e.tensor({1}, {1 + 0x1p-12})), any(3.0)})), (Doubles{1 + 0x3p-12 + 0x1p-23}));
}

TEST(Pow, has_finite_gradients_at_zero) {
  Eager e(true);
  Tensor *x = e.tensor({2}, {0, 2}), *y = e.tensor({2}, {2, 0});
  Tensor* loss = e.run("prims.sum", {any(e.run("pow", {any(x), any(y)})), any(std::vector<int64_t>{0})});
  auto g = e.grad(loss, {x, y});
  EXPECT_EQ(values(g[0]), (Doubles{0, 0}));
  EXPECT_FLOAT_EQ(values(g[1])[0], 0);
  EXPECT_FLOAT_EQ(values(g[1])[1], std::log(2.0f));
}

TEST(Maximum, propagates_nan_and_shares_ties) {
  Eager e(true);
  Tensor *x = e.tensor({3}, {1, 5, 2}), *y = e.tensor({3}, {3, 5, 1});
  Tensor* loss = e.run("prims.sum", {any(e.run("maximum", {any(x), any(y)})), any(std::vector<int64_t>{0})});
  auto g = e.grad(loss, {x, y});
  EXPECT_EQ(values(g[0]), (Doubles{0, 0.5, 1}));
  EXPECT_EQ(values(g[1]), (Doubles{1, 0.5, 0}));
  Tensor *n = e.tensor({2}, {kNaN, 1}), *m = e.tensor({2}, {1, kNaN});
  for (double v : values(e.run("maximum", {any(n), any(m)}))) EXPECT_TRUE(std::isnan(v));
  for (double v : values(e.run("minimum", {any(n), any(m)}))) EXPECT_TRUE(std::isnan(v));
}

TEST(Comparisons, give_booleans_and_are_false_for_nan) {
  Eager e;
  Tensor *x = e.tensor({3}, {1, 2, kNaN}), *y = e.tensor({3}, {2, 2, 2});
  EXPECT_EQ(type(e.run("lt", {any(x), any(y)})), "bool[3]");
  EXPECT_EQ(values(e.run("lt", {any(x), any(y)})), (Doubles{1, 0, 0}));
  EXPECT_EQ(values(e.run("le", {any(x), any(y)})), (Doubles{1, 1, 0}));
  EXPECT_EQ(values(e.run("ne", {any(x), any(y)})), (Doubles{1, 0, 1}));
  EXPECT_EQ(values(e.run("eq", {any(e.tensor({2}, {2, 3}, DType::i64)), any(2.5)})), (Doubles{0, 0}));
}

TEST(Mul, reads_strided_operands) {
  Eager e;
  Tensor* x = e.run("prims.permute", {any(e.tensor({2, 3}, {1, 2, 3, 4, 5, 6})), any(std::vector<int64_t>{1, 0})});
  EXPECT_EQ(values(e.run("mul", {any(x), any(e.tensor({2}, {1, 10}))})), (Doubles{1, 40, 2, 50, 3, 60}));
}

}  // namespace
}  // namespace thunder
