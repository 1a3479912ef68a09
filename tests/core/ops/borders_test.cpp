// Values and gradients at the borders: zeros of both signs, probabilities of 0 and 1, singular matrices, ties, large means.
#include <bit>
#include <limits>

#include "support/gradients.h"

namespace thunder {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<int64_t> ints(std::initializer_list<int64_t> list) { return list; }

TEST(Borders, keep_the_sign_of_zero) {
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    Eager e;
    for (const char* name : {"asinh", "atanh", "sinh", "round", "asin", "sin", "tan", "tanh", "expm1", "log1p", "trunc", "ceil", "floor"}) {
      const Doubles y = values(e.run(name, {any(e.tensor({2}, {-0.0, 0.0}, dtype))}));
      EXPECT_TRUE(y[0] == 0 && std::signbit(y[0])) << name << " of -0 in " << info(dtype).name;
      EXPECT_TRUE(y[1] == 0 && !std::signbit(y[1])) << name << " of 0 in " << info(dtype).name;
    }
    const Doubles near = values(e.run("round", {any(e.tensor({2}, {-0.25, 0.25}, dtype))}));
    EXPECT_TRUE(std::signbit(near[0]) && !std::signbit(near[1]));
    const Doubles quotients = values(e.run("floor_divide", {any(e.tensor({4}, {-0.0, 0.0, 0.5, 0.0}, dtype)), any(e.tensor({4}, {3, 3, 3, -3}, dtype))}));
    EXPECT_EQ(quotients, (Doubles{0, 0, 0, 0}));
    EXPECT_TRUE(std::signbit(quotients[0]) && !std::signbit(quotients[1]) && !std::signbit(quotients[2]) && std::signbit(quotients[3]));
  }
}

// Of as many elements as a vector has, and of more, and of those that are left over.
TEST(Borders, between_which_zeros_keep_their_signs) {
  const auto signs = [](Tensor* y) {
    Doubles out;
    for (double v : values(y)) out.push_back(v == 0 ? std::signbit(v) : 9);
    return out;
  };
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16})
    for (int64_t n : {1, 4, 17, 33}) {
      Eager e;
      const Doubles minus(static_cast<size_t>(n), 1), plus(static_cast<size_t>(n), 0);
      Tensor* const x = e.tensor({n}, Doubles(static_cast<size_t>(n), -0.0), dtype);
      Tensor* const zeros = e.tensor({n}, plus, dtype);
      const auto both = [&](const char* op, Any low, Any high) {
        EXPECT_EQ(signs(e.run(op, {any(x), low, high})), minus) << op << " in " << info(dtype).name << ", " << n;
        EXPECT_EQ(signs(e.run(op, {any(zeros), low, high})), plus) << op << " in " << info(dtype).name << ", " << n;
      };
      for (const char* op : {"relu", "relu6"}) {
        EXPECT_EQ(signs(e.run(op, {any(x)})), minus) << op << " in " << info(dtype).name << ", " << n;
        EXPECT_EQ(signs(e.run(op, {any(zeros)})), plus) << op << " in " << info(dtype).name << ", " << n;
      }
      both("hardtanh", any(0.0), any(1.0)), both("hardtanh", any(-1.0), any(0.0));
      for (double zero : {0.0, -0.0}) both("clamp", any(zero), Any()), both("clamp", Any(), any(zero)), both("clamp", any(zero), any(zero));
      both("clamp", any(x), Any()), both("clamp", any(zeros), any(zeros));
    }
}
TEST(Borders, of_limits_have_no_gradient) {
  Eager e(true);
  const auto slope = [&](std::string_view op, std::initializer_list<Any> bounds) {
    Tensor* x = e.tensor({6}, {-1, 0, 0.5, 6, 7, std::numeric_limits<double>::quiet_NaN()});
    std::vector<Any> args{any(x)};
    args.insert(args.end(), bounds.begin(), bounds.end());
    Tensor* y = e.scope().invoke(op, args, nullptr, nullptr, 0, nullptr);
    return values(e.grad(e.run("sum", {any(y)}), {x})[0]);
  };
  EXPECT_EQ(slope("relu6", {}), (Doubles{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(slope("hardtanh", {any(0.0), any(6.0)}), (Doubles{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(slope("hardtanh", {}), (Doubles{0, 1, 1, 0, 0, 1}));
}

// A NaN's sign bit is as good as any other's.
TEST(Borders, of_signs_are_those_of_bits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    Eager e;
    Tensor *x = e.tensor({4}, {nan, -0.0, 0.0, 1}, dtype), *negative = e.run("neg", {any(x)});
    EXPECT_EQ(values(e.run("signbit", {any(x)})), (Doubles{0, 1, 0, 0})) << info(dtype).name;
    EXPECT_EQ(values(e.run("signbit", {any(negative)})), (Doubles{1, 0, 1, 1})) << info(dtype).name;
    EXPECT_EQ(values(e.run("copysign", {any(e.tensor({4}, {1, 2, 3, 4}, dtype)), any(negative)})), (Doubles{-1, 2, -3, -4}));
  }
}

// How often a number fits depends on its last bit.
TEST(Borders, of_remainders_of_narrow_reals_are_those_of_rounded_numbers) {
  Eager e;
  Tensor* x = e.tensor({2}, {-42.84375, 42.84375}, DType::f16);
  EXPECT_EQ(values(e.run("remainder", {any(x), any(0.7)})), (Doubles{0.568359375, 0.1318359375}));
  EXPECT_EQ(values(e.run("fmod", {any(x), any(0.7)})), (Doubles{-0.1318359375, 0.1318359375}));
}

TEST(Borders, are_no_borders_to_bessel_functions) {
  Eager e;
  Tensor* least = e.tensor({2}, {5e-324, -5e-324}, DType::f64);
  EXPECT_EQ(values(e.run("i0", {any(least)})), (Doubles{1, 1}));
  EXPECT_EQ(values(e.run("i0e", {any(least)})), (Doubles{1, 1}));
  EXPECT_EQ(values(e.run("i1", {any(e.tensor({1}, {1e-300}, DType::f64))})), (Doubles{5e-301}));
}

// The slope's denominator is limited, so that right predictions have none.
TEST(Borders, of_probabilities_have_finite_gradients_of_cross_entropy) {
  Eager e(true);
  Tensor *p = e.tensor({4}, {0, 1, 0, 1}), *y = e.tensor({4}, {0, 1, 1, 0});
  Tensor* loss = e.run("binary_cross_entropy", {any(p), any(y), Any(), any("sum")});
  EXPECT_EQ(values(loss), (Doubles{200}));
  const auto d = e.grad(loss, {p, y});
  EXPECT_EQ(values(d[0]), (Doubles{0, 0, -1e12f, 1e12f}));
  for (double v : values(d[1])) EXPECT_EQ(std::abs(v), 100);
}

TEST(Borders, of_angles_have_no_slope_at_the_origin) {
  Eager e(true);
  Tensor *y = e.tensor({2}, {0, 1}), *x = e.tensor({2}, {0, 0});
  const auto d = e.grad(e.run("sum", {any(e.run("atan2", {any(y), any(x)}))}), {y, x});
  EXPECT_EQ(values(d[0]), (Doubles{0, 0}));
  EXPECT_EQ(values(d[1]), (Doubles{0, -1}));
}

TEST(Borders, of_entropies_are_those_of_limits) {
  Eager e(true);
  Tensor* x = e.tensor({4}, {0, -1, kInf, 1});
  Tensor* y = e.run("entr", {any(x)});
  EXPECT_EQ(values(y), (Doubles{0, -kInf, -kInf, 0}));
  const Doubles d = values(e.grad(e.run("sum", {any(y)}), {x})[0]);
  EXPECT_EQ(d[0], kInf);
  EXPECT_TRUE(std::isnan(d[1]));
  EXPECT_EQ(d[2], -kInf);
  EXPECT_EQ(d[3], -1);
}

TEST(Borders, of_divergences_are_nan_below_zero) {
  Eager e;
  const Doubles y = values(e.run("kl_div", {any(e.tensor({2}, {0, -2})), any(e.tensor({2}, {-1, 0})), any("none")}));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
}

// The adjugate, of rank one, two and none.
TEST(Borders, of_determinants_are_their_cofactors) {
  const auto slope = [](const Doubles& a, int64_t n) {
    Eager e(true);
    Tensor* x = e.tensor({n, n}, a, DType::f64);
    return values(e.grad(e.run("linalg_det", {any(x)}), {x})[0]);
  };
  const auto near = [](const Doubles& got, const Doubles& want) {
    for (size_t i = 0; i < want.size(); i++) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
  };
  near(slope({1, 2, 2, 4}, 2), {4, -2, -2, 1});
  near(slope({1, 2, 3, 2, 4, 6, 1, 1, 1}, 3), {-2, 4, -2, 1, -2, 1, 0, 0, 0});
  near(slope({0, 0, 0, 0, 0, 0, 0, 0, 0}, 3), Doubles(9, 0));
  near(slope({1, 2, 3, 4}, 2), {4, -3, -2, 1});
  near(slope({5}, 1), {1});
  near(slope({0}, 1), {1});
}
TEST(Borders, leave_second_derivatives_of_determinants) {
  expect_second_gradients({numbers({3, 3}, 4)}, [](Eager& e, const std::vector<Tensor*>& x) { return e.run("linalg_det", {any(x[0])}); });
}

TEST(Borders, of_symmetric_matrices_have_symmetric_gradients) {
  Eager e(true);
  Tensor* a = e.tensor({2, 2}, {1, 2, 2, 5}, DType::f64);
  Tensor* out[2];
  const Any args[] = {any(a)};
  e.scope().invoke("linalg_eigh", args, nullptr, out, 2, nullptr);
  Tensor* weights = e.tensor({2, 2}, {1, 2, 3, 4}, DType::f64);
  const Doubles d = values(e.grad(e.run("sum", {any(e.run("mul", {any(out[1]), any(weights)}))}), {a})[0]);
  EXPECT_NEAR(d[1], d[2], 1e-15);
  EXPECT_NE(d[1], 0);
}

// Two passes, and what the mean was rounded by.
TEST(Borders, of_large_means_leave_variances) {
  for (double offset : {1e4, 1e6, -3e5}) {
    Eager e;
    Doubles x(37);
    double mean = 0, squares = 0;
    for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(offset + std::sin(static_cast<double>(i)));
    for (double v : x) mean += v / 37;
    for (double v : x) squares += (v - mean) * (v - mean);
    EXPECT_NEAR(values(e.run("var", {any(e.tensor({37}, x))}))[0], squares / 36, 1e-5 * squares / 36) << offset;
  }
  Eager e;
  EXPECT_EQ(values(e.run("var", {any(e.tensor({3}, {0.1, 0.1, 0.1}))}))[0], 0);
}

TEST(Borders, give_ties_of_maxima_to_the_first) {
  const auto first_of = [](const char* op, const std::vector<int64_t>& shape, std::initializer_list<Any> rest) {
    Eager e(true);
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Tensor* x = e.tensor(shape, Doubles(static_cast<size_t>(n), 1));
    std::vector<Any> args{any(x)};
    args.insert(args.end(), rest.begin(), rest.end());
    Tensor* y = e.scope().invoke(op, args, nullptr, nullptr, 0, nullptr);
    return values(e.grad(e.run("sum", {any(y)}), {x})[0]);
  };
  const Doubles one{1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(first_of("max_pool3d", {1, 1, 2, 2, 2}, {any(ints({2}))}), one);
  EXPECT_EQ(first_of("adaptive_max_pool1d", {1, 1, 8}, {any(ints({1}))}), one);
  EXPECT_EQ(first_of("adaptive_max_pool2d", {1, 1, 2, 4}, {any(ints({1}))}), one);
  EXPECT_EQ(first_of("adaptive_max_pool3d", {1, 2, 2, 2}, {any(ints({1}))}), one);
}

// 256 + 1 - 256: the product is not rounded to 8 bits before the sum.
TEST(Borders, of_bf16_round_products_once) {
  Eager e;
  const DType d = DType::bf16;
  Tensor *row = e.tensor({1, 1, 2}, {1, 1}, d), *column = e.tensor({1, 2, 1}, {256, 1}, d);
  EXPECT_EQ(values(e.run("baddbmm", {any(e.tensor({1}, {-256}, d)), any(row), any(column)})), (Doubles{1}));
  EXPECT_EQ(values(e.run("addmm", {any(e.tensor({1}, {-256}, d)), any(e.tensor({1, 2}, {1, 1}, d)), any(e.tensor({2, 1}, {256, 1}, d))})), (Doubles{1}));
  EXPECT_EQ(values(e.run("vecdot", {any(e.tensor({3}, {1, 1, 1}, d)), any(e.tensor({3}, {256, 1, -256}, d))})), (Doubles{1}));
  const Tensor* y = e.run("baddbmm", {any(e.tensor({1}, {-256}, d)), any(row), any(column)});
  EXPECT_EQ(y->type().dtype, d);
}

TEST(Borders, of_small_integers_keep_their_dtype) {
  for (DType d : {DType::u8, DType::i8, DType::i32}) {
    Eager e;
    Tensor *x = e.tensor({2, 2}, {1, 2, 3, 4}, d), *b = e.tensor({2, 2, 2}, {1, 0, 0, 1, 1, 1, 1, 1}, d);
    EXPECT_EQ(e.run("addbmm", {any(x), any(b), any(b)})->type().dtype, d);
    EXPECT_EQ(e.run("bilinear", {any(x), any(x), any(b)})->type().dtype, d);
    EXPECT_EQ(e.run("any", {any(x)})->type().dtype, d == DType::u8 ? DType::u8 : DType::boolean);
    EXPECT_EQ(e.run("all", {any(x)})->type().dtype, d == DType::u8 ? DType::u8 : DType::boolean);
    Tensor* list[] = {x};
    Any operands;
    operands.kind = ArgKind::values, operands.count = 1, operands.ts = list;
    EXPECT_EQ(e.run("einsum", {any("ij->i"), operands})->type().dtype, DType::i64);
  }
}

TEST(Borders, of_dtypes_let_integers_be_convolved_and_pooled) {
  Eager e;
  Tensor *x = e.tensor({1, 1, 2, 3}, {1, 2, 3, -4, -5, -7}, DType::i64), *w = e.tensor({1, 1, 2, 2}, {1, 1, 1, 1}, DType::i64);
  EXPECT_EQ(values(e.run("conv2d", {any(x), any(w)})), (Doubles{-6, -7}));
  EXPECT_EQ(values(e.run("avg_pool2d", {any(x), any(ints({2})), any(ints({1}))})), (Doubles{-1, -1}));
  EXPECT_EQ(type(e.run("conv1d", {any(e.tensor({1, 1, 3}, {1, 2, 3}, DType::u8)), any(e.tensor({1, 1, 2}, {1, 1}, DType::u8))})), "u8[1, 1, 2]");
}

}  // namespace
}  // namespace thunder
