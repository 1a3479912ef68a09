// Integers of fewer than eight bits. Tensors hold them in bytes; only the file has their real width.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// The type of input i where the file says that it is such a one: an initializer, an input, a constant or what a cast
// gives. Null: it is another.
const ElementType* narrow_type(Node& n, size_t i);

}  // namespace thunder::onnx
