// What users are promised: ops under PyTorch's names, in-place forms and dtypes. A contract, hence a list of its own: what
// the registry holds today must not decide what it must hold.
#include <gtest/gtest.h>

#include "support/eager.h"

namespace thunder {
namespace {

constexpr std::string_view kCreate[] = {"full", "zeros", "ones", "arange", "full_like", "zeros_like", "ones_like", "rand",
                                        "randn", "uniform", "randint", "dropout"};
constexpr std::string_view kUnary[] = {"abs", "neg", "exp", "log", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos",
                                       "tanh", "erf", "sigmoid", "relu", "gelu", "silu", "logical_not", "clamp"};
constexpr std::string_view kBinary[] = {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "ne", "lt", "le",
                                        "gt", "ge", "where"};
constexpr std::string_view kReduce[] = {"sum", "mean", "var", "amax", "argmax", "logsumexp", "all", "any"};
constexpr std::string_view kShape[] = {"reshape", "view", "flatten", "permute", "transpose", "squeeze", "unsqueeze",
                                       "expand", "cat", "stack", "split", "slice", "select", "pad", "contiguous", "to",
                                       "tril", "triu"};
constexpr std::string_view kIndex[] = {"gather", "scatter_add", "index_select", "index_put", "embedding", "one_hot",
                                       "masked_fill"};
constexpr std::string_view kNetwork[] = {"matmul", "linear", "conv2d", "max_pool2d", "layer_norm", "rms_norm", "batch_norm",
                                         "softmax", "log_softmax", "cross_entropy", "mse_loss",
                                         "scaled_dot_product_attention"};
constexpr std::span<const std::string_view> kPromised[] = {kCreate, kUnary, kBinary, kReduce, kShape, kIndex, kNetwork};
// add_ and so on; index_put_ is what an indexed assignment is.
constexpr std::string_view kInPlace[] = {"add", "mul", "copy", "zero", "fill", "index_put"};

TEST(Contract, holds_every_promised_op_for_users) {
  const Registry registry;
  for (auto family : kPromised)
    for (std::string_view name : family) {
      const OpDef* op = registry.find(name);
      ASSERT_TRUE(op) << name;
      EXPECT_FALSE(op->has(kHidden)) << name;
      EXPECT_FALSE(op->doc.empty()) << name;
    }
}

TEST(Contract, holds_the_promised_in_place_forms) {
  const Registry registry;
  for (std::string_view name : kInPlace) {
    const OpDef* op = registry.find(name);
    ASSERT_TRUE(op) << name;
    EXPECT_TRUE(op->has(kInplace)) << name;
  }
}

TEST(Contract, gelu_is_exact_or_by_tanh) {
  Eager e;
  Tensor* x = e.tensor({1}, {1.5});
  const double exact = values(e.run("gelu", {any(x), any("none")}))[0];
  const double by_tanh = values(e.run("gelu", {any(x), any("tanh")}))[0];
  EXPECT_NEAR(exact, 1.3997892, 1e-6);
  EXPECT_NEAR(by_tanh, 1.3995715, 1e-6);
}

// Each is made, converted to f64 and back, and moved through memory.
TEST(Contract, every_promised_dtype_is_there) {
  Eager e;
  const std::vector<int64_t> pair{2};
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::i32, DType::u8, DType::boolean}) {
    Tensor* ones = e.run("ones", {any(pair), any(dtype)});
    EXPECT_EQ(type(ones), cat(name(dtype), "[2]"));
    Tensor* wide = e.run("to", {any(ones), any(DType::f64)});
    EXPECT_EQ(values(wide), (Doubles{1, 1})) << name(dtype);
    EXPECT_EQ(type(e.run("to", {any(wide), any(dtype)})), type(ones));
  }
}

}  // namespace
}  // namespace thunder
