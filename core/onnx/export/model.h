// A graph as the bytes of an ONNX model, whole in memory or in a file with its tensors beside it.
#pragma once

#include <string>

#include "onnx/export/graph.h"

namespace thunder::onnx_export {

std::string model_bytes(const Graph& graph, const std::string& name);

// Tensors of more than this together, or with `external`, go into PATH.data, each at a multiple of 4096; small
// constants stay in the model. An old file stays whole on failure.
constexpr uint64_t kMostInside = uint64_t{1} << 30;
void write_model(const Graph& graph, const std::string& name, const std::string& path, bool external);

}  // namespace thunder::onnx_export
