// What ONNX says of each op: how many inputs and outputs it has, and which attributes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnx/node.h"

namespace thunder::onnx {

struct Schema {
  std::string_view domain, op;
  int64_t since;  // of its domain's opset
  uint32_t least_inputs, most_inputs, least_outputs, most_outputs;
  std::string_view attributes;  // "alpha:f axes:I!": name, kind, whether it is required
};

// All of them, in order.
std::span<const Schema> schemas();
// Of an op in an opset: the newest one that is not newer. Null: none is known.
const Schema* find_schema(std::string_view domain, std::string_view op, int64_t opset);

// Throws if the node has other attributes, inputs or outputs than its op has in this opset.
void check_schema(const Node& n);

}  // namespace thunder::onnx
