// Graphs as bytes.
#include "onnx/export/model.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "support/failure.h"
#include "support/folder.h"

namespace thunder::onnx_export {
namespace {

// y = x + w; w is a tensor of these many elements.
Graph sum_with(int64_t elements) {
  Graph graph(18);
  TensorType type;
  type.dtype = DType::f32, type.shape = {elements};
  const Ref<Tensor> w = Tensor::empty(default_allocator(), type);
  for (int64_t i = 0; i < elements; i++) reinterpret_cast<float*>(w->data())[i] = 1.5f;
  const Val x = graph.value(DType::f32, "x");
  graph.inputs.push_back({x, {{0, "n"}}});
  const Val y = graph.node("Add", {x, graph.add_weight(w, "w")});
  graph.outputs.push_back({graph.give_name(y, "y"), {{elements, ""}}});
  return graph;
}

TEST(OnnxModel, holds_names_dims_and_data) {
  const std::string bytes = model_bytes(sum_with(2), "f");
  for (const char* word : {"libthunder", "Add", "x", "w", "y", "n"}) EXPECT_PRED2(contains, bytes, word);
  const float data[] = {1.5f, 1.5f};
  EXPECT_PRED2(contains, bytes, std::string(reinterpret_cast<const char*>(data), sizeof data));
  EXPECT_EQ(bytes, model_bytes(sum_with(2), "f"));
}

TEST(OnnxModel, puts_data_beside_it_at_whole_pages) {
  const Folder folder;
  Graph graph = sum_with(2000);
  const Val more = graph.node("Add", {graph.outputs[0].value, graph.add_weight(graph.initializers()[0].tensor, "w2")});
  graph.outputs[0].value = more;
  write_model(graph, "f", folder / "f.onnx", true);
  const std::string model = read_file(folder / "f.onnx", 1 << 20), data = read_file(folder / "f.onnx.data", 1 << 20);
  EXPECT_LT(model.size(), 1000u);
  EXPECT_PRED2(contains, model, "f.onnx.data");
  EXPECT_PRED2(contains, model, "8192");
  EXPECT_EQ(data.size(), 8192u + 8000u);
  EXPECT_EQ(data.substr(8192, 4), data.substr(0, 4));
}

}  // namespace
}  // namespace thunder::onnx_export
