// A compiled function's program as an ONNX model.
#pragma once

#include "jit/call.h"

namespace thunder {

std::span<const OptionRow> export_onnx_options();

// Writes what a call of the program does, gradients and all: a model whose weights are the captured tensors. What a
// call writes is one more output, NAME.new, and an input, whose value is what it is now. Throws as Compiled::programs
// does, and unimplemented, naming the op, why and the user's line, where ONNX has nothing for it.
void export_onnx(const Compiled& compiled, const std::string& path, const Options* options);

}  // namespace thunder
