// A region as an ONNX model: what engines are given that read ONNX.
#pragma once

#include <string>
#include <vector>

#include "onnx/export/export.h"
#include "program/kernel.h"

namespace thunder {

// What models of regions are written in.
constexpr int64_t kRegionOpset = 21;

// Whether ONNX has the node as one line of its own.
bool onnx_has(const NodeView& view);

// Its inputs and outputs are named in0, in1 ... and out0, out1 ... It must not outlive the compile's store.
class RegionModel {
 public:
  explicit RegionModel(const NodeView& view);
  size_t inputs() const { return trace_.inputs.size(); }
  size_t outputs() const { return trace_.outputs.size(); }
  // Inputs that are `constant` are none of the graph's: their data is given beside it. Empty: none is.
  onnx_export::Graph graph(const std::vector<bool>& constant = {}) const;

  static std::string input_name(size_t i);
  static std::string output_name(size_t i);

 private:
  Trace trace_;
};

}  // namespace thunder
