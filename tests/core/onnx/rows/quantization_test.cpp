// Quantised ops by numbers worked out by hand.
// covers: core/onnx/windows.cpp
#include "onnx/program.h"
#include "support/context.h"
#include "support/eager.h"
#include "support/onnx_writer.h"
#include "tracer/eager.h"

namespace thunder::onnx::test {
namespace {

struct Quantized : testing::Test {
  Ref<Context> context = thunder::test::seeded_context();

  // The first result of a model, whose inputs are its initializers, as doubles.
  std::vector<double> run(const GraphText& g) {
    const std::string bytes = model(g);
    Ref<Program> p = load(std::as_bytes(std::span(bytes)), context->module_environment());
    EagerScope scope(context->scope_environment(), false);
    Values* out = apply(scope, *p, Values());
    EXPECT_FALSE(scope.status()) << scope.status()->message();
    if (scope.status()) return {};
    const Tensor& t = *(*out)[0].tensor;
    std::vector<double> values;
    for (int64_t i = 0; i < t.elements(); i++)
      values.push_back(as_double(t.type().dtype, t.data() + i * static_cast<int64_t>(size_of(t.type().dtype))));
    return values;
  }
};

using Doubles = std::vector<double>;

TEST_F(Quantized, rounds_half_to_even_and_saturates) {
  GraphText g;
  g.initializers = {floats("x", {6}, {-300, -1, 0.5, 1.5, 3, 1000}), floats("scale", {}, {1}),
                    tensor_text<uint8_t>("zero", 2, {}, {10})};
  g.nodes = {node("QuantizeLinear", {"x", "scale", "zero"}, {"y"})};
  g.outputs = {value_info("y", 2, {6})};
  EXPECT_EQ(run(g), (Doubles{0, 9, 10, 12, 13, 255}));
}

TEST_F(Quantized, has_a_scale_for_each_place_along_the_axis) {
  GraphText g;
  g.initializers = {tensor_text<int8_t>("x", 3, {2, 2}, {1, 2, 3, 4}), floats("scale", {2}, {0.5, 2}),
                    tensor_text<int8_t>("zero", 3, {2}, {1, 0})};
  g.nodes = {node("DequantizeLinear", {"x", "scale", "zero"}, {"y"}, {attribute("axis", int64_t{0})})};
  g.outputs = {value_info("y", kFloat, {2, 2})};
  EXPECT_EQ(run(g), (Doubles{0, 0.5, 6, 8}));
}

TEST_F(Quantized, multiplies_integers_exactly) {
  GraphText g;
  g.initializers = {tensor_text<uint8_t>("a", 2, {1, 2}, {255, 1}), tensor_text<int8_t>("b", 3, {2, 1}, {-128, 3}),
                    tensor_text<uint8_t>("az", 2, {}, {1})};
  g.nodes = {node("MatMulInteger", {"a", "b", "az"}, {"y"})};
  g.outputs = {value_info("y", kInt32, {1, 1})};
  EXPECT_EQ(run(g), (Doubles{254 * -128}));
}

}  // namespace
}  // namespace thunder::onnx::test
