#include "ir/same_size.h"

#include <gtest/gtest.h>

#include <array>

#include "ir/dim_reads.h"

namespace thunder {
namespace {

TEST(SameSize, is_decided_by_what_was_seen_where_formulas_differ) {
  Dims dims;
  const Dim s = dims.symbol(6), t = dims.symbol(3);
  DimReads reads;
  EXPECT_TRUE(same_size(s * 2, Dim(2) * s));
  EXPECT_TRUE(reads.noted().empty()) << "equal whatever s is";
  EXPECT_TRUE(same_size((s + 1) / Dim(2), s - (s + 1) / Dim(2)));
  EXPECT_FALSE(reads.noted().empty()) << "equal while s is even";
  EXPECT_FALSE(same_size(s / Dim(2), t * 2));
}

TEST(SameSize, holds_of_no_symbol_and_number_that_were_equal_once) {
  Dims dims;
  const Dim s = dims.symbol(6), t = dims.symbol(6);
  EXPECT_FALSE(same_size(s, 6));
  EXPECT_FALSE(same_size(s, t));
  EXPECT_TRUE(same_elements(std::array{s, Dim(4)}, std::array{s * 4 / Dim(8), Dim(8)}));
}

}  // namespace
}  // namespace thunder
