// ONNX Runtime's own ops by numbers worked out by hand.
// covers: core/onnx/heads.cpp core/onnx/operands.cpp
#include "onnx/program.h"
#include "support/context.h"
#include "support/onnx_writer.h"
#include "tracer/eager.h"

#include <gtest/gtest.h>

namespace thunder::onnx::test {
namespace {

struct Microsoft : testing::Test {
  Ref<Context> context = thunder::test::seeded_context();

  std::vector<float> run(const GraphText& g) {
    const std::string bytes = model(g);
    Ref<Program> p = load(std::as_bytes(std::span(bytes)), context->module_environment());
    EagerScope scope(context->scope_environment(), false);
    Values* out = apply(scope, *p, Values());
    EXPECT_FALSE(scope.status()) << scope.status()->message();
    if (scope.status()) return {};
    const Tensor& t = *(*out)[0].tensor;
    const auto* first = reinterpret_cast<const float*>(t.data());
    return {first, first + t.elements()};
  }
};

using Reals = std::vector<float>;

// Two weights a byte, the low bits first, 8 standing for zero.
TEST_F(Microsoft, multiplies_by_weights_of_four_bits) {
  GraphText g;
  std::vector<uint8_t> packed(8, 0x88);  // 16 zeros
  packed[0] = 0x9a;                      // 2, 1
  g.initializers = {floats("x", {1, 16}, {1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                    tensor_text<uint8_t>("w", 2, {1, 1, 8}, packed), floats("scale", {1}, {0.5})};
  g.nodes = {node("MatMulNBits", {"x", "w", "scale"}, {"y"},
                  {attribute("K", int64_t{16}), attribute("N", int64_t{1}), attribute("bits", int64_t{4}),
                   attribute("block_size", int64_t{16})},
                  "", "com.microsoft")};
  g.outputs = {value_info("y", kFloat, {1, 1})};
  EXPECT_EQ(run(g), (Reals{0.5f * (2 * 1 + 1 * 10)}));
}

TEST_F(Microsoft, adds_before_it_normalises) {
  GraphText g;
  g.initializers = {floats("x", {1, 1, 2}, {1, 2}), floats("skip", {1, 1, 2}, {0, 1}), floats("g", {2}, {1, 1})};
  g.nodes = {node("SkipLayerNormalization", {"x", "skip", "g"}, {"y", "", "", "sum"}, {}, "", "com.microsoft")};
  g.outputs = {value_info("y", kFloat, {1, 1, 2})};
  const Reals y = run(g);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], -1, 1e-5);
  EXPECT_NEAR(y[1], 1, 1e-5);
}

// All weights are equal where all scores are: the mean of the values that are looked at.
TEST_F(Microsoft, attends_to_what_is_before_each_row) {
  GraphText g;
  g.initializers = {floats("q", {1, 2, 2}, {0, 0, 0, 0}), floats("v", {1, 2, 2}, {1, 2, 3, 4})};
  g.nodes = {node("MultiHeadAttention", {"q", "q", "v"}, {"y"},
                  {attribute("num_heads", int64_t{1}), attribute("unidirectional", int64_t{1})}, "", "com.microsoft")};
  g.outputs = {value_info("y", kFloat, {1, 2, 2})};
  EXPECT_EQ(run(g), (Reals{1, 2, 2, 3}));
}

}  // namespace
}  // namespace thunder::onnx::test
