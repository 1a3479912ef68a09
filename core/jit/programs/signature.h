// What a compiled function takes and gives.
#pragma once

#include "jit/call.h"

namespace thunder {

// As JSON: names, dtypes and dims; of an ONNX model those of its file. "": nothing is known before a first program.
std::string signature_json(const Compiled& compiled);

}  // namespace thunder
