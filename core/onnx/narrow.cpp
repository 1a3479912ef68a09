#include "onnx/narrow.h"

#include "onnx/importer.h"

namespace thunder::onnx {
namespace {

// ONNX's number of the dtype that a node gives, where it says one.
int32_t declared_type(const NodeProto& node) {
  const Attribute* to = node.op == "Cast"             ? node.find("to")
                        : node.op == "QuantizeLinear" ? node.find("output_dtype")
                                                      : nullptr;
  if (to) return static_cast<int32_t>(to->i);
  const Attribute* value = node.op == "Constant" ? node.find("value") : nullptr;
  return value && value->tensors.size() == 1 ? value->tensors[0].type : 0;
}

}  // namespace

const ElementType* narrow_type(Node& n, size_t i) {
  if (!n.has(i)) return nullptr;
  const Graph& graph = n.importer().program().model().graph;
  const std::string_view name = n.proto.inputs[i];
  int32_t number = 0;
  for (const TensorProto& t : graph.initializers)
    if (t.name == name) number = t.type;
  for (const ValueInfo& v : graph.inputs)
    if (v.name == name) number = v.type;
  for (const NodeProto& node : graph.nodes)
    for (std::string_view output : node.outputs)
      if (output == name) number = declared_type(node);
  const ElementType* type = find_element_type(number);
  return type && type->dtype != DType::none && type->bits < 8 ? type : nullptr;
}

}  // namespace thunder::onnx
