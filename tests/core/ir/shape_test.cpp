#include "ir/shape.h"

#include <gtest/gtest.h>

#include "ir/dim_reads.h"
#include "support/failure.h"

namespace thunder {
namespace {

TEST(Broadcast, stretches_ones_and_missing_dims) {
  EXPECT_EQ(broadcast(Shape{2, 1, 3}, Shape{4, 1}), (Shape{2, 4, 3}));
  EXPECT_EQ(broadcast(Shape{4, 1}, Shape{2, 1, 3}), (Shape{2, 4, 3}));
  EXPECT_EQ(broadcast(Shape{}, Shape{5}), (Shape{5}));
  EXPECT_EQ(broadcast(Shape{1}, Shape{0}), (Shape{0})) << "nothing stretches to nothing";
}

TEST(Broadcast, refuses_sizes_that_differ) {
  EXPECT_PRED2(contains, failure_of([] { broadcast(Shape{2, 3}, Shape{4}); }),
               "shapes [2, 3] and [4] do not broadcast: dim 1 is 3 and 4");
  EXPECT_PRED2(contains, failure_of([] { broadcast(Shape{0}, Shape{2}); }), "dim 0 is 0 and 2");
}

TEST(Broadcast, keeps_symbols_that_are_one_expression) {
  Dims dims;
  Dim n = dims.symbol(4), m = dims.symbol(4);
  EXPECT_EQ(broadcast(Shape{n, 1}, Shape{n, 3}), (Shape{n, 3}));
  EXPECT_PRED2(contains, failure_of([&] { broadcast(Shape{n}, Shape{m}); }), "dim 0 is s0 and s1");
}

TEST(NormalizeAxis, counts_from_both_ends) {
  EXPECT_EQ(normalize_axis(0, 3), 0u);
  EXPECT_EQ(normalize_axis(-1, 3), 2u);
  EXPECT_EQ(normalize_axis(-3, 3), 0u);
  EXPECT_EQ(normalize_axis(-1, 0), 0u) << "a scalar counts as one dimension";
}

TEST(NormalizeAxis, names_the_range_it_leaves) {
  EXPECT_PRED2(contains, failure_of([] { normalize_axis(3, 3); }),
               "dim 3 is out of range for a tensor of rank 3 (expected -3 to 2)");
  EXPECT_PRED2(contains, failure_of([] { normalize_axis(-4, 3); }), "dim -4");
  EXPECT_PRED2(contains, failure_of([] { normalize_axis(1, 0); }), "(expected -1 to 0)");
  EXPECT_PRED2(contains, failure_of([] { normalize_axis(INT64_MIN, 2); }), "dim -9223372036854775808");
}

TEST(Elements, count_and_refuse_to_overflow) {
  EXPECT_EQ(elements(Shape{}), Dim(1));
  EXPECT_EQ(elements(Shape{2, 3}), Dim(6));
  EXPECT_EQ(elements(Shape{INT64_MAX, INT64_MAX, 0}), Dim(0));
  EXPECT_PRED2(contains, failure_of([] { elements(Shape{INT64_MAX, 2}); }), "does not fit");
}

TEST(ShapeName, reads_like_a_list) {
  EXPECT_EQ(name(Shape{4, 8}), "[4, 8]");
  EXPECT_EQ(name(Shape{}), "[]");
}

TEST(Concrete, reads_symbols_as_numbers_which_is_noted) {
  Dims dims;
  EXPECT_EQ(concrete(Shape{4, 8}), (Sizes{4, 8}));
  DimReads reads;
  EXPECT_EQ(concrete(Shape{dims.symbol(3)}), (Sizes{3}));
  EXPECT_EQ(reads.noted().size(), 1u);
}

}  // namespace
}  // namespace thunder
