// Asked, fusion says why two kernels are not one.
#include "executors/fusion/explain.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct Explain : LinesTest {
  void SetUp() override {
    if (std::string why; !can_compile(&why)) GTEST_SKIP() << why;
  }
  static std::string explained(const Trace& claimed) { return explain(claimed, targets()); }
};

TEST_F(Explain, is_empty_for_a_single_kernel) {
  EXPECT_EQ(explained(claim_lines({prim("prims.neg", {prim("prims.exp", {input({4, 8})})})})), "");
}

TEST_F(Explain, names_the_node_that_does_not_fit_and_the_reason) {
  Var a = prim("prims.neg", {prim("prims.exp", {input({4, 8})})}), rows = prim("prims.amax", {a, Shape{1}});
  Var columns = prim("prims.amax", {a, Shape{0}});
  EXPECT_EQ(explained(claim_lines({rows, columns})),
            "t[2] is not fused with t[4] (prims.amax): it reduces other axes than the rest of the group\n");
}

TEST_F(Explain, sees_through_views) {
  Var a = prim("prims.exp", {input({4, 3})}), b = prim("prims.reshape", {a, Shape{3, 4}});
  EXPECT_EQ(explained(claim_lines({prim("prims.neg", {b})})),
            "t[1] is not fused with t[3] (prims.neg): it is iterated by other loops than the rest of the group\n");
}

TEST_F(Explain, reports_sums_that_end_a_kernel) {
  Var total = prim("prims.sum", {prim("prims.exp", {input({4, 8})}), Shape{}});
  EXPECT_EQ(explained(claim_lines({prim("prims.log", {total})})),
            "t[2] is not fused with t[3] (prims.log): it reads a sum over the outer axes, which is known only when the kernel has ended\n");
}

}  // namespace
}  // namespace thunder::fusion
