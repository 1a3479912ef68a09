// The fields of onnx.proto that are written.
#pragma once

#include "onnx/wire.h"

#include <protozero/pbf_writer.hpp>

namespace thunder::onnx_export {

struct ModelField {
  static constexpr uint32_t ir_version = 1, producer_name = 2, graph = 7, opset_import = 8;
};
struct GraphField {
  static constexpr uint32_t node = 1, name = 2, initializer = 5, input = 11, output = 12;
};
struct NodeField {
  static constexpr uint32_t input = 1, output = 2, name = 3, op_type = 4, attribute = 5, doc_string = 6;
};
struct AttributeField {
  static constexpr uint32_t name = 1, f = 2, i = 3, s = 4, ints = 8, type = 20;
};
struct TensorField {
  static constexpr uint32_t dims = 1, data_type = 2, name = 8, raw_data = 9, external_data = 13, data_location = 14;
};
struct PortField {
  static constexpr uint32_t name = 1, type = 2;
};

}  // namespace thunder::onnx_export
