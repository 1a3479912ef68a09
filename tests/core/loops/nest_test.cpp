// The text of a nest: what code depends on, and nothing else.
#include "loops/nest.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

// exp of an input of these sizes and strides.
CpuNest exp_of(std::initializer_list<Dim> sizes, const std::vector<int64_t>& strides, DType dtype = DType::f32) {
  tests::TraceMaker maker;
  Var y = maker.call("prims.exp", {maker.input("x", sizes, dtype)});
  const Trace trace = maker.finish({y});
  return scheduled(lowered(*trace.nodes[0], *trace.store, {strides}));
}
std::string text(const CpuNest& n) { return print(n); }

TEST(NestText, is_readable) {
  EXPECT_EQ(text(exp_of({4, 96}, {200, 1})),
            "nest 1 outer, 1 inner of 2 axes\n"
            "buffers f32 f32\n"
            "  e0 = load.f32(b0, map0<s1>)\n"
            "  e1 = exp.f32(e0)\n"
            "  b1[map1<s1>] = e1\n"
            "on a CPU: lane 1 split\n");
}

TEST(NestText, does_not_depend_on_sizes_and_strides) {
  const CpuNest a = exp_of({4, 96}, {200, 1}), b = exp_of({50, 1000}, {2000, 1});
  EXPECT_EQ(text(a), text(b));
  EXPECT_NE(parameters(a), parameters(b));
  EXPECT_EQ(parameters(b), (std::vector<int64_t>{50, 1000, 2000, 1000}));
}

TEST(NestText, distinguishes_short_and_even_lane_axes) {
  EXPECT_NE(text(exp_of({100}, {1})), text(exp_of({16}, {1})));
  EXPECT_NE(text(exp_of({100}, {1})), text(exp_of({128}, {1})));
  EXPECT_EQ(text(exp_of({100}, {1})), text(exp_of({1000003}, {1})));
}

TEST(NestText, distinguishes_dtypes_and_stride_kinds) {
  EXPECT_NE(text(exp_of({100}, {1})), text(exp_of({100}, {1}, DType::f64)));
  EXPECT_NE(text(exp_of({100}, {1})), text(exp_of({100}, {2})));
  EXPECT_NE(text(exp_of({100}, {1})), text(exp_of({100}, {0})));
}

}  // namespace
}  // namespace thunder::fusion
