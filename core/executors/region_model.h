// A region as an ONNX model, for engines that read ONNX.
#pragma once

#include <string>
#include <vector>

#include "onnx/export/export.h"
#include "program/kernel.h"

namespace thunder {

// The format in which models of regions are written.
constexpr int64_t kRegionOpset = 21;

// Whether ONNX has one op for the node.
bool has_onnx_row(const NodeView& view);

// The model's inputs and outputs are named in0, in1 ... and out0, out1 ... It must not outlive the compile's store.
class RegionModel {
 public:
  explicit RegionModel(const NodeView& view);
  size_t inputs() const { return trace_.inputs.size(); }
  size_t outputs() const { return trace_.outputs.size(); }
  // Inputs marked in `constant` are no inputs of the graph: their data is passed separately. Empty: none is.
  onnx_export::Graph graph(const std::vector<bool>& constant = {}) const;

  static std::string input_name(size_t i);
  static std::string output_name(size_t i);

 private:
  Trace trace_;
};

}  // namespace thunder
