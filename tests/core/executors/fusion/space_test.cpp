// Axes that meet become one, are split where a shape asks for it, and are refused where sizes do not divide.
#include "executors/fusion/space.h"

#include <gtest/gtest.h>

namespace thunder::fusion {
namespace {

struct SpaceTest : testing::Test {
  Space space;
  Coordinates add_axes(std::initializer_list<Dim> shape) { return space.add_axes(Shape(shape)); }
  // The extents of a value's axes, by dim.
  std::vector<std::vector<int64_t>> extents(const Coordinates& c) {
    std::vector<std::vector<int64_t>> out;
    for (const Dimension& d : space.resolve(c)) {
      out.emplace_back();
      for (AxisId a : d) out.back().push_back(space.extent(a).value());
    }
    return out;
  }
  bool same(const Coordinates& a, const Coordinates& b) {
    const Dimension left = space.flatten(a), right = space.flatten(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }
};
using Extents = std::vector<std::vector<int64_t>>;

TEST_F(SpaceTest, gives_no_axis_to_a_dim_of_size_one) { EXPECT_EQ(extents(add_axes({1, 3, 1})), (Extents{{}, {3}, {}})); }

TEST_F(SpaceTest, unifies_axes_of_equal_size) {
  const Coordinates a = add_axes({2, 3}), b = add_axes({2, 3});
  EXPECT_FALSE(same(a, b));
  EXPECT_TRUE(space.unify(a, b));
  EXPECT_TRUE(same(a, b));
}

TEST_F(SpaceTest, rejects_sizes_that_do_not_divide) {
  EXPECT_FALSE(space.unify(add_axes({2, 3}), add_axes({3, 2})));
  EXPECT_FALSE(space.unify(add_axes({4}), add_axes({6})));
  EXPECT_FALSE(space.unify(add_axes({4}), add_axes({2})));
}

TEST_F(SpaceTest, splits_the_longer_of_two_axes) {
  const Coordinates a = add_axes({6}), b = add_axes({2, 3});
  const auto joined = space.reshape(b, Shape{6});
  ASSERT_TRUE(joined);
  EXPECT_EQ(extents(*joined), (Extents{{2, 3}}));
  EXPECT_TRUE(space.unify(a, *joined));
  EXPECT_EQ(extents(a), (Extents{{2, 3}}));
  EXPECT_TRUE(same(a, b));
}

TEST_F(SpaceTest, splits_both_sides_where_only_factors_are_equal) {
  const Coordinates a = add_axes({2, 6}), b = add_axes({4, 3});
  const auto flat_a = space.reshape(a, Shape{12}), flat_b = space.reshape(b, Shape{12});
  ASSERT_TRUE(flat_a && flat_b);
  EXPECT_TRUE(space.unify(*flat_a, *flat_b));
  EXPECT_EQ(extents(a), (Extents{{2}, {2, 3}}));
  EXPECT_EQ(extents(b), (Extents{{2, 2}, {3}}));
}

TEST_F(SpaceTest, follows_an_axis_that_was_split_before) {
  const Coordinates a = add_axes({24}), b = add_axes({4, 6}), c = add_axes({8, 3});
  EXPECT_TRUE(space.unify(a, *space.reshape(b, Shape{24})));
  EXPECT_TRUE(space.unify(a, *space.reshape(c, Shape{24})));
  EXPECT_EQ(extents(a), (Extents{{4, 2, 3}}));
  EXPECT_TRUE(same(b, c));
}

TEST_F(SpaceTest, reshapes_from_the_innermost_axis_outwards) {
  const Coordinates a = add_axes({4, 6});
  const auto b = space.reshape(a, Shape{2, 1, 12});
  ASSERT_TRUE(b);
  EXPECT_EQ(extents(*b), (Extents{{2}, {}, {2, 6}}));
  EXPECT_EQ(extents(a), (Extents{{2, 2}, {6}}));
}

TEST_F(SpaceTest, rejects_a_reshape_whose_sizes_do_not_divide) { EXPECT_FALSE(space.reshape(add_axes({4, 3}), Shape{3, 4})); }

TEST_F(SpaceTest, unifies_dims_that_share_an_axis) {
  const Coordinates a = add_axes({5, 5});
  EXPECT_TRUE(space.unify(a, Coordinates{a[1], a[0]}));
  const Dimension flat = space.flatten(a);
  EXPECT_EQ(flat[0], flat[1]);  // a diagonal, which a group refuses
}

}  // namespace
}  // namespace thunder::fusion
