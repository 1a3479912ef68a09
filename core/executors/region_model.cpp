#include "executors/region_model.h"

#include "base/text.h"

namespace thunder {
namespace {

// A trace of the compile's own store, which only grows.
std::shared_ptr<Store> non_owning(const Store& store) {
  return {std::shared_ptr<Store>(), const_cast<Store*>(&store)};
}

}  // namespace

bool has_onnx_row(const NodeView& view) {
  return onnx_export::has_row(view.node, non_owning(view.store), kRegionOpset);
}

RegionModel::RegionModel(const NodeView& view) {
  trace_.store = non_owning(view.store);
  for_each_value(view.node.args, [&](ValueId v) { trace_.inputs.push_back({v, Source::argument, 0, "", false}); });
  for (const Node* n : nodes_of(view.node)) trace_.nodes.push_back(n);
  trace_.outputs.assign(view.node.results.begin(), view.node.results.end());
}

onnx_export::Graph RegionModel::graph(const std::vector<bool>& constant) const {
  onnx_export::ExportRequest request{trace_, {}, {}, {}, kRegionOpset};
  for (size_t i = 0; i < inputs(); i++)
    request.inputs.push_back({input_name(i), nullptr, false, !constant.empty() && constant[i]});
  for (size_t i = 0; i < outputs(); i++) request.outputs.push_back({output_name(i), trace_.outputs[i]});
  return onnx_export::export_graph(request);
}

std::string RegionModel::input_name(size_t i) { return cat("in", i); }
std::string RegionModel::output_name(size_t i) { return cat("out", i); }

}  // namespace thunder
