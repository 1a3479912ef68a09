// Looking at a symbolic size as a number is noted, where somebody asks for it.
#include "ir/dim_reads.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

TEST(DimReads, notes_what_is_looked_at_and_nothing_else) {
  Dims dims;
  const Dim s = dims.symbol(5), twice = s * 2;
  EXPECT_EQ(hint(s), 5);
  DimReads reads;
  EXPECT_EQ(hint(Dim(3)), 3);
  const Dim next = s + 1;
  EXPECT_TRUE(reads.noted().empty());
  EXPECT_EQ(hint(twice) + hint(next), 16);
  EXPECT_EQ(reads.noted(), (std::vector<const DimExpr*>{twice.expr(), next.expr()}));
  reads.forget_after(1);
  EXPECT_EQ(reads.noted().size(), 1u);
}

TEST(DimReads, are_of_the_innermost_alone_and_pause) {
  Dims dims;
  const Dim s = dims.symbol(5);
  DimReads outer;
  {
    DimReads inner;
    hint(s);
    EXPECT_EQ(inner.noted().size(), 1u);
    const DimReads::Pause pause;
    hint(s);
    EXPECT_EQ(inner.noted().size(), 1u);
  }
  EXPECT_TRUE(outer.noted().empty());
  hint(s);
  EXPECT_EQ(outer.noted().size(), 1u);
}

TEST(DimReads, of_lines_keep_what_lines_look_at_and_what_they_compare) {
  Dims dims;
  const Dim s = dims.symbol(5);
  {
    DimReads function;
    const DimReads::Again line;
    EXPECT_TRUE(is_at_most(2, s) && is_less(s, 6) && is_equal(s, 5));
    EXPECT_TRUE(function.conditions().empty()) << "the line is made again for other sizes";
  }
  DimReads lines(DimReads::Of::lines);
  {
    const DimReads::Again line;
    EXPECT_TRUE(is_at_most(7, s * 2));
    EXPECT_EQ(s.value(), 5);
  }
  EXPECT_EQ(lines.noted(), std::vector<const DimExpr*>{s.expr()});
  ASSERT_EQ(lines.conditions().size(), 1u);
  EXPECT_EQ(lines.conditions()[0].formula(), "(s0*2) >= 7");
}

TEST(DimReads, note_no_condition_that_holds_for_all_sizes) {
  Dims dims;
  const Dim s = dims.symbol(5);
  DimReads reads;
  EXPECT_TRUE(compare(s, DimCondition::Is::at_most, s) && compare(s - 1, DimCondition::Is::less, s));
  EXPECT_TRUE(reads.conditions().empty());
}

}  // namespace
}  // namespace thunder
