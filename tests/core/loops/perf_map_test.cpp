// Sizes of functions in objects, and names of kernels. Covers loops: perf_map, kernel_name.
// covers: core/loops/kernel_name.cpp
#include "loops/perf_map.h"

#include <gtest/gtest.h>

#include "loops/kernel_name.h"
#include "loops/kernels.h"

namespace thunder::loops {
namespace {

CpuNest doubled() {
  Nest nest;
  nest.extents = {8};
  nest.outer = 1;
  nest.buffers = {DType::f32, DType::f32};
  nest.maps = {{1}};
  Expr x, sum;
  x.dtype = sum.dtype = DType::f32;
  sum.fn = Fn::add, sum.in = {0, 0, 0}, sum.count = 2;
  nest.exprs = {x, sum};
  nest.stores = {{.value = 1, .buffer = 1, .map = 0}};
  find_levels(nest, 0);
  return CpuNest(nest);
}

TEST(PerfMap, finds_nothing_in_other_bytes) {
  EXPECT_EQ(function_bytes("", "kernel"), 0u);
  EXPECT_EQ(function_bytes(std::string(100, 'x'), "kernel"), 0u);
  EXPECT_EQ(function_bytes(std::string("\x7f" "ELF") + std::string(60, '\xff'), "kernel"), 0u);
}

TEST(PerfMap, finds_the_size_of_a_kernel_in_its_object) {
  if (!can_compile()) GTEST_SKIP() << "there is no LLVM here";
  kernel(doubled());
  const std::string object = kernels().object(print(doubled()));
  ASSERT_FALSE(object.empty());
  EXPECT_GT(function_bytes(object, "kernel"), 0u);
  EXPECT_LT(function_bytes(object, "kernel"), object.size());
  EXPECT_EQ(function_bytes(object, "kernels"), 0u);
}

TEST(KernelName, names_the_functions_that_a_nest_computes) { EXPECT_EQ(kernel_name(doubled()), "fused_add"); }

}  // namespace
}  // namespace thunder::loops
