// The text of a caller's kernel for each dtype, which NVRTC compiles where it is installed.
#include "executors/cuda/kernels/cuda_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "ops/op.h"
#include "support/nvrtc.h"
#include "tracer/compile_settings.h"

namespace thunder::kernels {
namespace {

// A line of an op of one tensor and one result.
struct CudaSourceOfCaller : testing::Test {
  OpDef op{"mine.twice(tensor x) -> tensor"};
  Store store;

  std::string text(const std::string& source, DType dtype) {
    TensorType type;
    type.dtype = dtype, type.shape = {4};
    const ValueId x = store.add(type), y = store.add(type);
    const Arg args[] = {Arg::value(x)};
    const ValueId results[] = {y};
    return cuda_text(source, "twice", {*store.node(&op, args, results, {}, nullptr), store, default_settings()});
  }
};

constexpr const char* kTwice =
    "extern \"C\" __global__ void twice(const x_t* x, out_t* out) { out[threadIdx.x] = (out_t)(2 * (float)x[threadIdx.x]); }\n";

TEST_F(CudaSourceOfCaller, defines_the_types_that_it_mentions) {
  const std::string both = text(kTwice, DType::i16);
  EXPECT_NE(both.find("typedef short x_t;\ntypedef short out_t;\n#line 1 \"twice.cu\"\nextern"), std::string::npos) << both;
  EXPECT_EQ(text("void twice(float* x) {}", DType::f32), "#line 1 \"twice.cu\"\nvoid twice(float* x) {}");
  EXPECT_NE(text("void twice(bfloat16* x) {}", DType::f32).find("struct bfloat16"), std::string::npos);
}

TEST_F(CudaSourceOfCaller, compiles_for_every_dtype) {
  if (!test::nvrtc()) GTEST_SKIP() << "NVRTC is not installed: tools/setup-nvrtc";
  for (const DTypeInfo& d : all_dtypes())
    EXPECT_EQ(test::refused_by_nvrtc({text(kTwice, d.dtype), {"--std=c++17", "--use_fast_math"}}), "") << d.name;
  EXPECT_NE(test::refused_by_nvrtc({text("void twice() { undeclared(); }", DType::f32), {}}).find("twice.cu(1)"), std::string::npos);
}

}  // namespace
}  // namespace thunder::kernels
