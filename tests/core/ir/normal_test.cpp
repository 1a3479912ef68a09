#include "ir/normal.h"

#include <gtest/gtest.h>

#include <array>

namespace thunder {
namespace {

TEST(Product, is_equal_however_its_factors_are_written) {
  Dims dims;
  const Dim s = dims.symbol(5), t = dims.symbol(7);
  EXPECT_EQ(Product(std::array{Dim(4), s, t}), Product(std::array{t * Dim(2), s * Dim(2)}));
  EXPECT_NE(Product(std::array{Dim(4), s}), Product(std::array{Dim(4), t}));
}

TEST(Product, divides_by_what_surely_divides_it) {
  Dims dims;
  const Dim s = dims.symbol(6), t = dims.symbol(7);
  const Product whole(std::array{s, Dim(8), t});
  EXPECT_EQ(*whole.divide(Product(std::array{Dim(4), t})), Dim(2) * s);
  EXPECT_FALSE(whole.divide(Product(std::array{Dim(3)}))) << "6 divides by 3 today, another size may not";
  EXPECT_FALSE(Product(std::array{s}).divide(Product(std::array{t})));
}

TEST(Product, is_zero_when_a_factor_is) {
  const int64_t huge = INT64_MAX;
  EXPECT_TRUE(Product(std::array{Dim(huge), Dim(0), Dim(huge)}).zero());
}

TEST(Difference, is_known_when_symbols_cancel) {
  Dims dims;
  const Dim s = dims.symbol(6), t = dims.symbol(7);
  EXPECT_EQ(difference(s, s - 3), 3);
  EXPECT_EQ(difference((s + 2) * 2 + t, t + s * 2), 4);
  EXPECT_EQ(difference(s, t), std::nullopt);
  EXPECT_EQ(difference(9, 4), 5);
}

TEST(Steps, counts_what_a_slice_keeps) {
  Dims dims;
  const Dim s = dims.symbol(6);
  EXPECT_EQ(steps(0, s, 1), s);
  EXPECT_EQ(steps(s - 4, s - 1, 2), Dim(2));
  EXPECT_EQ(steps(3, 3, 2), Dim(0));
  EXPECT_EQ(hint(steps(1, s, 2)), 3);
}

}  // namespace
}  // namespace thunder
