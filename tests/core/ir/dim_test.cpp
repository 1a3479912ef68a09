#include "ir/dim.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/failure.h"

namespace thunder {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

TEST(Dim, folds_constants) {
  EXPECT_EQ((Dim(3) + Dim(4) * Dim(2) - Dim(1)).value(), 10);
  EXPECT_TRUE((Dim(7) / Dim(2)).constant());
}

TEST(Dim, divides_towards_minus_infinity) {
  for (int64_t a : {7, 6, 1, 0, -1, -6, -7})
    for (int64_t b : {1, 2, 3}) {
      const int64_t q = (Dim(a) / Dim(b)).value(), r = (Dim(a) % Dim(b)).value();
      EXPECT_EQ(q * b + r, a);
      EXPECT_GE(r, 0);
      EXPECT_LT(r, b);
    }
  EXPECT_EQ((Dim(kLeast) % Dim(3)).value(), 1);
  EXPECT_EQ((Dim(kLeast) / Dim(kMost)).value(), -2);
}

TEST(Dim, refuses_overflow_and_bad_divisors) {
  EXPECT_PRED2(contains, failure_of([] { Dim(kMost) + Dim(1); }), "size 9223372036854775807 + 1 does not fit");
  EXPECT_PRED2(contains, failure_of([] { Dim(kLeast) - Dim(1); }), "does not fit");
  EXPECT_PRED2(contains, failure_of([] { Dim(kMost) * Dim(2); }), "does not fit");
  EXPECT_PRED2(contains, failure_of([] { Dim(1) / Dim(0); }), "size 1 / 0: the divisor must be positive");
  EXPECT_PRED2(contains, failure_of([] { Dim(1) % Dim(-2); }), "must be positive");
}

TEST(Dims, bring_multiples_of_one_dim_together) {
  Dims dims;
  const Dim s = dims.symbol(5);
  EXPECT_EQ(s + s, s * Dim(2));
  EXPECT_EQ(Dim(3) * s - s, s * Dim(2));
  EXPECT_EQ(s * Dim(2) - s * Dim(2), Dim(0));
  EXPECT_EQ(s * Dim(6) / Dim(3), s * Dim(2));
  EXPECT_EQ(s * Dim(6) % Dim(3), Dim(0));
  EXPECT_FALSE((s * Dim(6) / Dim(4)).constant());
  EXPECT_EQ(hint(s * Dim(6) / Dim(4)), 7);
}

TEST(Dims, keep_equal_expressions_once) {
  Dims dims;
  Dim n = dims.symbol(10), m = dims.symbol(10);
  EXPECT_EQ(n * Dim(2) + m, n * Dim(2) + m);
  EXPECT_FALSE(n == m) << "equal values today are not equal sizes";
  EXPECT_FALSE(n + Dim(1) == n + Dim(2));
  EXPECT_EQ(dims.symbols(), 2u);
}

TEST(Dims, simplify_what_needs_no_symbol) {
  Dims dims;
  Dim n = dims.symbol(10);
  EXPECT_EQ(n * Dim(0), Dim(0));
  EXPECT_EQ(Dim(0) * n, Dim(0));
  EXPECT_EQ(n * Dim(1), n);
  EXPECT_EQ(Dim(1) * n, n);
  EXPECT_EQ(n / Dim(1), n);
  EXPECT_EQ(n % Dim(1), Dim(0));
  EXPECT_EQ(n + Dim(0), n);
  EXPECT_EQ(Dim(0) + n, n);
  EXPECT_EQ(n - Dim(0), n);
  EXPECT_EQ(n - n, Dim(0));
}

TEST(Dims, evaluate_under_other_values_than_the_hint) {
  Dims dims;
  Dim n = dims.symbol(10), m = dims.symbol(3);
  Dim d = (n * m + Dim(1)) / Dim(2) % m;
  EXPECT_EQ(hint(d), 15 % 3);
  EXPECT_EQ(Dims::evaluate(d, {7, 4}), 14 % 4);
  EXPECT_EQ(Dims::evaluate(Dim(5), {}), 5);
  EXPECT_PRED2(contains, failure_of([&] { Dims::evaluate(n / m, {1, 0}); }), "must be positive");
  EXPECT_EQ(name(n * m + Dim(1)), "((s0*s1)+1)");
}

TEST(Dims, take_back_what_was_added) {
  Dims dims;
  const Dim n = dims.symbol(10), m = dims.symbol(3);
  EXPECT_EQ(n + Dim(1) - Dim(1), n);
  EXPECT_EQ(n - Dim(3) + Dim(5), n + Dim(2));
  EXPECT_EQ(n + m - n, m);
  EXPECT_EQ(n * Dim(2) + m - n, n + m);
  EXPECT_EQ((n + Dim(4)) - (n + Dim(1)), Dim(3));
  EXPECT_EQ(hint(n - m - n), -3);
  EXPECT_EQ(Dims::evaluate(n * m + Dim(2) - m - Dim(2), {5, 4}), 16);
}

// A hundred thousand expressions, each an operand of the next: no stack and no search is as long as they are.
TEST(Dims, take_expressions_of_any_depth) {
  constexpr int64_t kDepth = 100'000;
  Dims dims;
  const Dim n = dims.symbol(1);
  auto deep = [&] {
    Dim d = n;
    for (int64_t i = 0; i < kDepth; i++) d = d / Dim(2) + n;
    return d;
  };
  const Dim d = deep();
  EXPECT_EQ(hint(d), 1);
  EXPECT_EQ(Dims::evaluate(d, {5}), 9);
  EXPECT_EQ(deep(), d);
  const std::string text = name(d);
  EXPECT_EQ(text.size(), 2 + 9 * kDepth);
  EXPECT_EQ(text.substr(2 * kDepth - 2), "((s0" + [] {
    std::string ends;
    for (int64_t i = 0; i < kDepth; i++) ends += "/2)+s0)";
    return ends;
  }());
}

// Its tree has 2^60 leaves.
TEST(Dims, evaluate_a_shared_expression_once) {
  Dims dims;
  Dim d = dims.symbol(1);
  for (int i = 0; i < 60; i++) d = d + d;
  EXPECT_EQ(Dims::evaluate(d, {3}), int64_t{3} << 60);
}

}  // namespace
}  // namespace thunder
