#include "ir/symbolic/size.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace thunder {
namespace {

struct Sizes : ::testing::Test {
  Dims dims;
  const Size n = dims.symbol(8), m = dims.symbol(3);
};

TEST_F(Sizes, compute_as_numbers_do) {
  const DimReads reads(DimReads::Of::lines);
  EXPECT_EQ((Size(7) * 3 - 1) / 4 % 3, Size(2));
  EXPECT_EQ(magnitude(Size(-5)), Size(5));
  EXPECT_TRUE(Size(2) < 3 && Size(3) >= 3 && Size(2) != 3);
  EXPECT_TRUE(reads.conditions().empty() && reads.noted().empty());
}

TEST_F(Sizes, note_what_a_comparison_decided) {
  const DimReads reads(DimReads::Of::lines);
  EXPECT_FALSE(n == 1);
  EXPECT_TRUE(m * 2 < n);
  EXPECT_EQ(std::max(n, m), n);
  ASSERT_EQ(reads.conditions().size(), 3u);
  EXPECT_EQ(reads.conditions()[0].formula(), "s0 != 1");
  EXPECT_EQ(reads.conditions()[1].formula(), "(s1*2) < s0");
  EXPECT_TRUE(reads.conditions()[1].holds_for({9, 4}));
  EXPECT_FALSE(reads.conditions()[1].holds_for({8, 4}));
  EXPECT_TRUE(reads.noted().empty());
}

TEST_F(Sizes, note_no_condition_where_formulas_are_equal_for_any_symbols) {
  const DimReads reads(DimReads::Of::lines);
  EXPECT_TRUE(n * m == m * n && n + 1 > n);
  EXPECT_TRUE(reads.conditions().empty());
}

TEST_F(Sizes, note_that_a_number_was_read) {
  const DimReads reads(DimReads::Of::lines);
  EXPECT_EQ((n + m).value(), 11);
  EXPECT_EQ(reads.noted().size(), 1u);
}

}  // namespace
}  // namespace thunder
