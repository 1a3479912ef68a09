// Functions of one tensor, activations, where, clamp, creation and detach: special values, dtypes, messages.
#include <cmath>
#include <limits>

#include "support/eager.h"

namespace thunder {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
using Ints = std::vector<int64_t>;
const Any kNone;

TEST(Unary, makes_reals_of_integers_where_it_needs_them) {
  Eager e;
  Tensor* i = e.tensor({2}, {1, 4}, DType::i64);
  EXPECT_EQ(type(e.run("sqrt", {any(i)})), "f32[2]");
  EXPECT_EQ(values(e.run("sqrt", {any(i)})), (Doubles{1, 2}));
  EXPECT_EQ(type(e.run("abs", {any(i)})), "i64[2]");
  EXPECT_EQ(type(e.run("logical_not", {any(i)})), "bool[2]");
  EXPECT_EQ(values(e.run("abs", {any(e.tensor({1}, {-2147483648.0}, DType::i32))})), Doubles{-2147483648.0}) << "wraps around";
}

TEST(Unary, refuses_booleans_that_have_no_sign) {
  Eager e;
  std::string message = e.refused("neg", {any(e.tensor({2}, {0, 1}, DType::boolean))});
  EXPECT_NE(message.find("neg: "), message.npos) << message;
  EXPECT_NE(message.find("logical_not"), message.npos) << message;
}

TEST(Inplace, stores_reals_in_reals_only) {
  Eager e;
  Tensor* x = e.tensor({2}, {4, 9});
  EXPECT_EQ(e.run("sqrt_", {any(x)}), x);
  EXPECT_EQ(values(x), (Doubles{2, 3}));
  std::string message = e.refused("exp_", {any(e.tensor({2}, {1, 2}, DType::i64))});
  EXPECT_NE(message.find("cannot be written"), message.npos) << message;
  e.run("zero_", {any(x)});
  EXPECT_EQ(values(x), (Doubles{0, 0}));
}

TEST(Activations, keep_their_limits) {
  Eager e;
  Tensor* x = e.tensor({4}, {-1000, 0, 1000, kNaN});
  auto near = [&](const char* op, Doubles expected) {
    auto v = values(e.run(op, {any(x)}));
    for (size_t i = 0; i < 3; i++) EXPECT_EQ(v[i], expected[i]) << op << i;
    EXPECT_TRUE(std::isnan(v[3])) << op;
  };
  near("sigmoid", {0, 0.5, 1});
  near("relu", {0, 0, 1000});
  near("silu", {0, 0, 1000});
  near("gelu", {0, 0, 1000});
  near("tanh", {-1, 0, 1});
}

TEST(Relu, has_no_gradient_at_zero) {
  Eager e(true);
  Tensor* x = e.tensor({3}, {-1, 0, 2});
  EXPECT_EQ(values(e.grad(e.run("sum", {any(e.run("relu", {any(x)}))}), {x})[0]), (Doubles{0, 0, 1}));
}

TEST(Gelu, rounds_bf16_once) {
  Eager e;
  Tensor* x = e.tensor({64}, [] { Doubles v; for (int i = 0; i < 64; i++) v.push_back((i - 32) / 8.0); return v; }(), DType::bf16);
  Tensor* exact = e.run("to", {any(e.run("gelu", {any(e.run("to", {any(x), any(DType::f32)}))})), any(DType::bf16)});
  EXPECT_EQ(values(e.run("gelu", {any(x)})), values(exact));
}

TEST(Where, broadcasts_all_three_and_does_not_mix_gradients) {
  Eager e(true);
  Tensor *c = e.tensor({2, 1}, {1, 0}, DType::boolean), *x = e.tensor({3}, {1, 2, 3}), *y = e.scalar(9);
  Tensor* z = e.run("where", {any(c), any(x), any(y)});
  EXPECT_EQ(values(z), (Doubles{1, 2, 3, 9, 9, 9}));
  auto g = e.grad(e.run("sum", {any(z)}), {x, y});
  EXPECT_EQ(values(g[0]), (Doubles{1, 1, 1}));
  EXPECT_EQ(values(g[1]), Doubles{3});
}

TEST(Clamp, passes_gradients_on_its_bounds) {
  Eager e(true);
  Tensor* x = e.tensor({4}, {-2, -1, 0.5, 3});
  Tensor* y = e.run("clamp", {any(x), any(-1.0), any(1.0)});
  EXPECT_EQ(values(y), (Doubles{-1, -1, 0.5, 1}));
  EXPECT_EQ(values(e.grad(e.run("sum", {any(y)}), {x})[0]), (Doubles{0, 1, 1, 0}));
  EXPECT_TRUE(std::isnan(values(e.run("clamp", {any(e.scalar(kNaN)), any(0.0), any(1.0)}))[0]));
  EXPECT_EQ(values(e.run("clamp", {any(e.scalar(kInf)), kNone, any(1.0)})), Doubles{1});
}

TEST(Full, takes_its_dtype_from_the_value) {
  Eager e;
  EXPECT_EQ(type(e.run("full", {any(Ints{2}), any(1)})), "i64[2]");
  EXPECT_EQ(type(e.run("full", {any(Ints{2}), any(1.0)})), "f32[2]");
  EXPECT_EQ(type(e.run("full", {any(Ints{2}), any(true)})), "bool[2]");
  EXPECT_EQ(type(e.run("full", {any(Ints{}), any(1), any(DType::bf16)})), "bf16[]");
  Tensor* large = e.run("full", {any(Ints{1}), Any::integer((int64_t{1} << 60) + 1)});
  EXPECT_EQ(*reinterpret_cast<int64_t*>(large->data()), (int64_t{1} << 60) + 1);
  Tensor* lowest = e.run("full", {any(Ints{1}), Any::integer(INT64_MIN + 1)});
  EXPECT_EQ(*reinterpret_cast<int64_t*>(lowest->data()), INT64_MIN + 1);
}

TEST(Arange, keeps_integers_and_counts_the_last_partial_step) {
  Eager e;
  EXPECT_EQ(type(e.run("arange", {any(3)})), "i64[3]");
  EXPECT_EQ(values(e.run("arange", {any(2), any(9), any(3)})), (Doubles{2, 5, 8}));
  EXPECT_EQ(values(e.run("arange", {any(2), any(-3), any(-2)})), (Doubles{2, 0, -2}));
  EXPECT_EQ(type(e.run("arange", {any(0.0), any(1.0), any(0.3)})), "f32[4]");
  EXPECT_EQ(values(e.run("arange", {any(1), any(4), any(1), any(DType::f64)})), (Doubles{1, 2, 3}));
  EXPECT_NE(e.refused("arange", {any(e.scalar(3))}).find("plain numbers"), std::string::npos);
  EXPECT_NE(e.refused("arange", {any(1), any(2), any(0)}).find("step"), std::string::npos);
}

TEST(Detach, shares_memory_and_stops_gradients) {
  Eager e(true);
  Tensor* x = e.tensor({2}, {2, 3});
  Tensor* y = e.run("detach", {any(x)});
  EXPECT_EQ(y->data(), x->data());
  Tensor* loss = e.run("sum", {any(e.run("mul", {any(x), any(y)}))});
  EXPECT_EQ(values(e.grad(loss, {x})[0]), (Doubles{2, 3}));
}

}  // namespace
}  // namespace thunder
