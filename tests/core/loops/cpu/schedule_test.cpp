// The order of a nest's loops and the axis of its vectors.
#include "loops/cpu/schedule.h"

#include <gtest/gtest.h>

#include "core/loops/cpu/scheduled.h"
#include "support/machines.h"

namespace thunder::loops {
namespace {

// out[map] = exp(in[map]) over axes in any order; then pieces are added by hand.
CpuNest nest(std::vector<int64_t> extents, Map in, Map out) {
  CpuNest n;
  n.extents = std::move(extents);
  n.outer = static_cast<uint32_t>(n.extents.size());
  n.buffers = {DType::f32, DType::f32};
  n.maps = {std::move(in), std::move(out)};
  Expr load, exp;
  load.dtype = exp.dtype = DType::f32;
  exp.fn = Fn::exp, exp.in[0] = 0, exp.count = 1;
  n.exprs = {load, exp};
  n.stores = {{1, OutputKind::each, 1, 1}};
  return n;
}
Expr reduce(Fn fn, ExprId of) {
  Expr e;
  e.fn = fn, e.dtype = DType::f32, e.in[0] = of, e.count = 1;
  return e;
}
using Sizes = std::vector<int64_t>;

TEST(CpuSchedule, merges_contiguous_axes) {
  CpuNest n = nest({2, 3, 40}, {120, 40, 1}, {120, 40, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_EQ(n.extents, (Sizes{240}));
  EXPECT_EQ(n.outer, 0u);
  EXPECT_EQ(n.inner, 1u);
  EXPECT_TRUE(n.split);
}

TEST(CpuSchedule, merges_only_axes_that_are_contiguous_in_every_map) {
  CpuNest n = nest({2, 3, 40}, {200, 40, 1}, {120, 40, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_EQ(n.extents, (Sizes{2, 120}));
}

TEST(CpuSchedule, vectorizes_the_axis_of_unit_stride) {
  CpuNest n = nest({40, 30}, {1, 40}, {1, 40});  // both transposed: the first axis is the last in memory
  schedule(n, 0, test::neoverse_n1());
  EXPECT_EQ(n.extents, (Sizes{1200}));
  EXPECT_EQ(n.maps[0], (Map{1}));
}

TEST(CpuSchedule, prefers_contiguous_stores_and_long_axes) {
  CpuNest n = nest({40, 30}, {1, 40}, {30, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_EQ(n.extents[n.lane], 30);
  CpuNest shorter = nest({40, 3}, {1, 40}, {3, 1});
  schedule(shorter, 0, test::neoverse_n1());
  EXPECT_EQ(shorter.extents[shorter.lane], 40);
}

TEST(CpuSchedule, tiles_transposed_operands) {
  CpuNest n = nest({40, 30}, {1, 40}, {30, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_TRUE(n.blocked);
  EXPECT_EQ(n.extents, (Sizes{30, 40}));
  EXPECT_EQ(n.lane, 0u);
  EXPECT_EQ(n.block_axis(), 1u);
  EXPECT_EQ(n.maps[0], (Map{40, 1}));
  EXPECT_EQ(n.maps[1], (Map{1, 30}));
}

TEST(CpuSchedule, blocks_only_the_contiguous_axis_of_a_transposed_operand) {
  CpuNest n = nest({5, 40, 30}, {1200, 1, 40}, {1200, 30, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_TRUE(n.blocked);
  EXPECT_EQ(n.extents, (Sizes{5, 30, 40}));
  EXPECT_EQ(n.outer, 1u);
  EXPECT_EQ(n.inner, 2u);
}

TEST(CpuSchedule, does_not_tile_operands_in_row_order) {
  CpuNest n = nest({5, 40, 30}, {30, 150, 1}, {1200, 30, 1});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_FALSE(n.blocked);
}

TEST(CpuSchedule, makes_a_loop_of_one_iteration_for_one_element) {
  CpuNest n = nest({}, {}, {});
  schedule(n, 0, test::neoverse_n1());
  EXPECT_EQ(n.extents, (Sizes{1}));
  EXPECT_EQ(n.inner, 1u);
}

TEST(CpuSchedule, makes_reduced_axes_the_inner_loops) {
  CpuNest n = nest({40, 30}, {30, 1}, {0, 1});  // sums down the columns
  n.exprs.push_back(reduce(Fn::sum, 1));
  n.stores[0].value = 2;
  schedule(n, axis_bit(0), test::neoverse_n1());
  EXPECT_EQ(n.extents, (Sizes{30, 40}));
  EXPECT_EQ(n.outer, 1u);
  EXPECT_TRUE(n.lane_is_outer());
  EXPECT_FALSE(n.split);
  EXPECT_EQ(n.passes, 1u);
  EXPECT_TRUE(n.is_row(n.stores[0]));
}

TEST(CpuSchedule, vectorizes_along_reduced_rows) {
  CpuNest n = nest({40, 30}, {30, 1}, {1, 0});
  n.exprs.push_back(reduce(Fn::sum, 1));
  n.stores[0].value = 2;
  schedule(n, axis_bit(1), test::neoverse_n1());
  EXPECT_EQ(n.lane, 1u);
  EXPECT_FALSE(n.lane_is_outer());
}

TEST(CpuSchedule, adds_a_pass_for_values_that_need_reductions) {
  CpuNest n = nest({40, 30}, {30, 1}, {30, 1});  // exp(x) / sum(exp(x))
  n.exprs.push_back(reduce(Fn::sum, 1));
  Expr divide = reduce(Fn::div, 1);
  divide.in[1] = 2, divide.count = 2;
  n.exprs.push_back(divide);
  n.stores[0].value = 3;
  schedule(n, axis_bit(1), test::neoverse_n1());
  EXPECT_EQ(n.passes, 2u);
  EXPECT_EQ(n.exprs[2].level, 1u);
}

}  // namespace
}  // namespace thunder::loops
