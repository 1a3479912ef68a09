// How each op is written in ONNX: the table of rows.
#pragma once

#include <span>

#include "onnx/export/line.h"

namespace thunder::onnx_export {

// Gives the line's results. False: not like this (by its arguments, or for this opset); its body is written then.
using Write = bool (*)(Line& line);

struct Row {
  std::string_view op;
  std::string_view onnx;  // the ops it becomes; with `write` empty: the one op, of all of its tensors
  Write write = nullptr;
  bool elementwise = false;       // operands may be given as they were before they were repeated
  std::string_view why_not = {};  // of an op that cannot be written: the reason
};

std::span<const Row> elementwise_rows();
std::span<const Row> index_rows();
std::span<const Row> layer_rows();
std::span<const Row> random_rows();
std::span<const Row> reduction_rows();
std::span<const Row> shape_rows();
std::span<const Row> special_rows();
std::span<const Row> window_rows();

// All of them, sorted by op; made at the first call.
std::span<const Row> export_rows();
// The row of an op, or null.
const Row* find_row(std::string_view op);

}  // namespace thunder::onnx_export
