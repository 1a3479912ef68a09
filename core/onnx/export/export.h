// A trace as an ONNX graph, line by line.
#pragma once

#include <string>
#include <vector>

#include "ir/trace.h"
#include "onnx/export/graph.h"

namespace thunder::onnx_export {

// Where an input of the trace comes from.
struct ExportInput {
  std::string name;
  Ref<Tensor> tensor;    // of a captured tensor; null: an input of the graph
  bool written = false;  // it is an input as well, whose default is `tensor`
  bool outside = false;  // a constant that the caller of the model provides
};

struct ExportOutput {
  std::string name;
  ValueId value;
};

// A symbolic integer among the arguments.
struct ExportInteger {
  std::string name;
  int64_t symbol;
};

struct ExportRequest {
  const Trace& trace;               // without `grad` lines
  std::vector<ExportInput> inputs;  // by input of the trace
  std::vector<ExportInteger> integers;
  std::vector<ExportOutput> outputs;
  int64_t opset = 18;
  std::span<const std::string> symbol_names = {};  // of dims, by number; where there is none it is s0
};

// Throws unimplemented, naming the op, why, and the user's line.
Graph export_graph(const ExportRequest& request);

// Whether the line is written by its op's own row, and not by those of its body.
bool has_row(const Node& node, const std::shared_ptr<Store>& store, int64_t opset);

}  // namespace thunder::onnx_export
