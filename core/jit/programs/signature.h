// The signature of a compiled function: its arguments and results.
#pragma once

#include "jit/call.h"

namespace thunder {

// As JSON: names, dtypes and dims; of an ONNX model those of its file. "": nothing is known before a first program.
std::string signature_json(const Compiled& compiled);

// Names the symbols of a program that was made of `function` as that does, if it is an ONNX model.
void name_symbols(const Function& function, SavedProgram& program);

}  // namespace thunder
