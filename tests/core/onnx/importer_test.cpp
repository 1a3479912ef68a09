// Models that were damaged by chance: loading, describing and tracing them gives a result or an error, never worse, and takes little memory.
#include "onnx/importer.h"

#include <sys/resource.h>

#include <filesystem>

#include "support/bytes.h"
#include "support/onnx_trace.h"
#include "support/onnx_writer.h"

namespace thunder::onnx::test {
namespace {

// What each kind of value, subgraph and list is in, with numbers for shapes that damage makes large.
std::vector<std::string> own_models() {
  GraphText layer;
  layer.initializers = {floats("w", {2, 2}, {1, 2, 3, 4}), ints("shape", {2}, {1, -1}), ints("pads", {4}, {0, 1, 0, 1})};
  layer.nodes = {node("MatMul", {"x", "w"}, {"h"}, {}, "m"), node("Pad", {"h", "pads"}, {"p"}),
                 node("Reshape", {"p", "shape"}, {"y"})};
  GraphText shapes;
  shapes.initializers = {ints("one", {1}, {1}), ints("zero", {}, {0}), ints("step", {}, {1}), floats("scales", {2}, {1, 2})};
  shapes.nodes = {node("Shape", {"x"}, {"s"}),
                  node("Gather", {"s", "zero"}, {"n"}),
                  node("Range", {"zero", "n", "step"}, {"r"}),
                  node("Concat", {"s", "one"}, {"more"}, {attribute("axis", int64_t{0})}),
                  node("Unsqueeze", {"x", "one"}, {"u"}),
                  node("Expand", {"u", "more"}, {"e"}),
                  node("ConstantOfShape", {"more"}, {"c"}),
                  node("Tile", {"c", "more"}, {"t"}),
                  node("Resize", {"x", "", "scales"}, {"y"}, {text_attribute("mode", "linear")})};
  GraphText body;
  body.inputs = {value_info("i", kInt64, {}), value_info("c", kBool, {}), value_info("a", kFloat, {2})};
  body.nodes = {node("Add", {"a", "a"}, {"b"}), node("Identity", {"c"}, {"d"})};
  body.outputs = {value_info("d", kBool, {}), value_info("b", kFloat, {2})};
  GraphText branch;
  branch.nodes = {node("twice", {"x"}, {"r"}, {}, "", "local")};
  branch.outputs = {value_info("r", kFloat, {"n"})};
  GraphText control;
  control.initializers = {ints("trips", {}, {3})};
  control.nodes = {
      node("Constant", {}, {"yes"}, {tensor_attribute("value", tensor_text<uint8_t>("", kBool, {}, {1}))}),
      node("If", {"yes"}, {"b"}, {graph_attribute("then_branch", branch.text()), graph_attribute("else_branch", branch.text())}),
      node("Loop", {"trips", "", "b"}, {"l"}, {graph_attribute("body", body.text())}),
      node("SequenceConstruct", {"l", "x"}, {"q"}),
      node("ConcatFromSequence", {"q"}, {"y"}, {attribute("axis", int64_t{0})})};
  const std::string twice = function("twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"b"})});
  std::vector<std::string> out;
  for (GraphText* g : {&layer, &shapes, &control}) {
    g->inputs = {value_info("x", kFloat, {"n", 2})};
    g->outputs = {value_info("y", kFloat, {"n", 2})};
    out.push_back(model(*g, 18, {twice}));
  }
  return out;
}

// THUNDER_ONNX_CORPUS names a folder of more (tests/onnx/op_cases.py --corpus writes one).
std::vector<std::string> corpus() {
  std::vector<std::string> out = own_models();
  const char* folder = std::getenv("THUNDER_ONNX_CORPUS");
  if (!folder) return out;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".onnx") out.push_back(read_file(file.path().string(), uint64_t{1} << 24));
  return out;
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Mutations, of_models_do_no_worse_than_fail) {
  const Ref<Context> context = thunder::test::seeded_context();
  const std::vector<std::string> models = corpus();
  for (const std::string& m : models) try {
      load_and_trace(*context, m);
    } catch (const Error&) {
    }
  [[maybe_unused]] const int64_t before = peak_kib();
  uint64_t loaded = 0, traced = 0;
  tests::for_each_seed(3000, [&](std::mt19937_64& g) {
    const std::string bytes = mutated(models[tests::below(g, models.size())], g);
    try {
      load(std::as_bytes(std::span(bytes)), context->module_environment());
      loaded++;
      load_and_trace(*context, bytes);
      traced++;
    } catch (const Error& e) {
      EXPECT_NE(e.message(), "");
    }
  });
  EXPECT_GT(loaded, 0u);
  EXPECT_GT(traced, 0u);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(peak_kib() - before, 64 << 10);
#endif
}

}  // namespace
}  // namespace thunder::onnx::test
