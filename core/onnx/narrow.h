// Integers of fewer than eight bits, which tensors hold in bytes: only the file knows that they are.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// The type of input i where the file says that it is such a one: an initializer, an input, a constant or what a cast
// gives. Null: it is another.
const ElementType* narrow_type(Node& n, size_t i);

}  // namespace thunder::onnx
