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

}  // namespace
}  // namespace thunder
