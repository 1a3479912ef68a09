// Nests of groups: where each value is read, which sums are added up outside of the kernel, which indices are checked.
// covers: core/executors/fusion/lower_nodes.cpp
#include "executors/fusion/lower.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct Lower : LinesTest {
  void SetUp() override {
    if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  }
  // What the one kernel of these outputs is.
  LoweredRegion kernel(std::initializer_list<Var> outputs) {
    const Trace trace = claim_lines(outputs);
    const auto is_kernel = [](const Node* n) { return std::string_view(n->executor) == "fusion" && !def(*n).view; };
    EXPECT_EQ(std::count_if(trace.nodes.begin(), trace.nodes.end(), is_kernel), 1);
    return lowered(**std::find_if(trace.nodes.begin(), trace.nodes.end(), is_kernel), store());
  }
  static size_t count(const Nest& n, Fn fn) {
    return static_cast<size_t>(std::count_if(n.exprs.begin(), n.exprs.end(), [fn](const Expr& e) { return e.fn == fn; }));
  }
};

TEST_F(Lower, loads_each_input_once) {
  Var x = input({100});
  const LoweredRegion made = kernel({prim("prims.mul", {prim("prims.exp", {x}), x})});
  EXPECT_EQ(count(made.nest, Fn::load), 1u);
  EXPECT_EQ(made.nest.buffers.size(), 2u);
}

TEST_F(Lower, lowers_views_to_maps) {
  Var a = prim("prims.exp", {input({40, 30})}), b = prim("prims.permute", {a, Shape{1, 0}});
  const LoweredRegion made = kernel({prim("prims.mul", {b, input({30, 40})})});
  EXPECT_EQ(made.nest.exprs.size(), 4u);  // two loads, exp, mul
  EXPECT_EQ(made.nest.axes(), 2u);
}

TEST_F(Lower, iterates_reshaped_values_by_the_same_axes) {
  Var a = prim("prims.exp", {input({2, 3, 40})}), b = prim("prims.reshape", {a, Shape{6, 40}});
  const LoweredRegion made = kernel({prim("prims.mul", {b, input({6, 40})})});
  EXPECT_EQ(scheduled(made).extents, (std::vector<int64_t>{240}));
}

TEST_F(Lower, lowers_a_column_sum_to_an_accumulating_store) {
  Var x = prim("prims.exp", {input({40, 30})});
  const LoweredRegion made = kernel({prim("prims.amax", {x, Shape{1}}), prim("prims.sum", {x, Shape{0}})});
  ASSERT_EQ(made.sums.size(), 1u);
  EXPECT_EQ(made.sums[0].argument, 2u);
  EXPECT_EQ(made.sums[0].elements, 30);
  EXPECT_EQ(count(made.nest, Fn::sum), 0u);
}

TEST_F(Lower, lowers_a_total_to_row_sums_and_an_accumulating_store) {
  Var x = prim("prims.exp", {input({40, 30})});
  const LoweredRegion made = kernel({prim("prims.amax", {x, Shape{1}}), prim("prims.sum", {x, Shape{}})});
  ASSERT_EQ(made.sums.size(), 1u);
  EXPECT_EQ(made.sums[0].elements, 1);
  EXPECT_EQ(count(made.nest, Fn::sum), 1u);
}

TEST_F(Lower, sums_a_value_that_is_constant_along_rows_once_for_each_row) {
  Var x = input({40, 30}), rows = prim("prims.sum", {prim("prims.exp", {x}), Shape{1}});
  const LoweredRegion made = kernel({prim("prims.sum", {prim("prims.log", {rows}), Shape{0}})});
  EXPECT_EQ(made.sums.size(), 1u);
  EXPECT_EQ(count(made.nest, Fn::sum), 1u);
}

TEST_F(Lower, accumulates_16_bit_column_sums_in_f32) {
  Var x = prim("prims.exp", {input({40, 30}, DType::bf16)});
  const LoweredRegion made = kernel({prim("prims.amax", {x, Shape{1}}), prim("prims.sum", {x, Shape{0}})});
  ASSERT_EQ(made.sums.size(), 1u);
  EXPECT_EQ(made.sums[0].dtype, DType::f32);
}

TEST_F(Lower, checks_gather_indices) {
  Var x = prim("prims.exp", {input({40, 30})});
  const LoweredRegion made = kernel({prim("prims.gather", {x, 1, input({40, 1}, DType::i64)})});
  ASSERT_FALSE(made.checks.empty());
  EXPECT_EQ(made.checks.back().op, "prims.gather");
  EXPECT_EQ(made.checks.back().dim, 1);
  EXPECT_EQ(made.checks.back().size, 30);
}

TEST_F(Lower, gives_a_gathered_axis_of_an_input_no_loop) {
  Var i = prim("prims.add", {input({40, 1}, DType::i64), input({40, 1}, DType::i64)});
  const LoweredRegion made = kernel({prim("prims.gather", {input({40, 30}), 1, i})});
  EXPECT_EQ(made.nest.outer + made.nest.inner, 1u);
  EXPECT_EQ(made.nest.axes(), 2u);
}

}  // namespace
}  // namespace thunder::fusion
