// Axes in another order: what a nest computes stays, and targets may rely on how it then lies.
// covers: core/loops/region.cpp
#include "loops/order.h"

#include <gtest/gtest.h>

#include "loops/region.h"

namespace thunder::loops {
namespace {

// out = in along some axes, all outer.
Nest copy(std::vector<int64_t> extents, Map from, Map to) {
  Nest n;
  n.outer = static_cast<uint32_t>(extents.size());
  n.extents = std::move(extents);
  n.buffers = {DType::f32, DType::f32};
  n.maps = {std::move(from), std::move(to)};
  Expr load;
  load.dtype = DType::f32;
  n.exprs = {load};
  n.stores = {{0, OutputKind::each, 1, 1}};
  return n;
}

// The sum of its input along some axes.
Nest sum(std::vector<int64_t> extents, Map from, Map to) {
  Nest n = copy(std::move(extents), std::move(from), std::move(to));
  Expr sum;
  sum.fn = Fn::sum, sum.dtype = DType::f32, sum.count = 1;
  n.exprs.push_back(sum);
  n.stores[0].value = 1;
  return n;
}

TEST(Order, merges_axes_that_are_contiguous_in_every_map) {
  Nest n = copy({4, 6, 5}, {30, 5, 1}, {30, 5, 1});
  order_loops(n, 0);
  EXPECT_EQ(n.extents, (std::vector<int64_t>{120}));
  EXPECT_EQ(n.maps[0], (Map{1}));
  EXPECT_EQ(n.outer, 1u);
  EXPECT_EQ(n.passes, 1u);
}

TEST(Order, keeps_axes_that_one_map_strides_differently) {
  Nest n = copy({4, 6}, {1, 4}, {6, 1});
  order_loops(n, 0);
  EXPECT_EQ(n.extents, (std::vector<int64_t>{4, 6}));  // as the result has it
  EXPECT_EQ(n.outer, 2u);
}

TEST(Order, makes_reduced_axes_the_inner_loops) {
  Nest n = sum({8, 4, 5}, {20, 5, 1}, {0, 5, 1});
  order_loops(n, axis_bit(0));
  EXPECT_EQ(n.outer, 1u);
  EXPECT_EQ(n.inner, 1u);
  EXPECT_EQ(n.extents, (std::vector<int64_t>{20, 8}));
  EXPECT_EQ(n.exprs[1].level, 1u);
  EXPECT_EQ(n.exprs[1].axes, axis_bit(0));
  EXPECT_EQ(n.passes, 1u);
}

TEST(Order, may_leave_no_outer_axis) {
  Nest n = sum({8, 4}, {4, 1}, {0, 0});
  order_loops(n, axis_bit(0) | axis_bit(1));
  EXPECT_EQ(n.outer, 0u);
  EXPECT_EQ(n.extents, (std::vector<int64_t>{32}));
}

TEST(Order, gives_a_single_element_one_iteration) {
  Nest n = copy({}, {}, {});
  order_loops(n, 0);
  EXPECT_EQ(n.extents, (std::vector<int64_t>{1}));
  EXPECT_EQ(n.outer, 1u);
}

TEST(Region, names_the_index_that_is_out_of_range) {
  const auto status = Ref<Status>::adopt(index_error_status({{}, {"prims.gather", 1, 30}}, {1, 77}));
  EXPECT_EQ(status->code(), Code::out_of_range);
  EXPECT_EQ(status->message(), "prims.gather: index 77 is out of range for dim 1 of size 30");
}

}  // namespace
}  // namespace thunder::loops
