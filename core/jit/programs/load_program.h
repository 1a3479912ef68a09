// Loads programs from files: saved programs and ONNX models, told apart by content.
#pragma once

#include "jit/programs/program_file.h"

namespace thunder {

// Like load_saved_program; an ONNX model has no options.
LoadedProgram load_program(const Ref<Context>& context, const std::string& path, const CompileOptions* options);
// Loads a file from memory; the bytes are copied.
LoadedProgram load_program(const Ref<Context>& context, std::span<const std::byte> bytes,
                           const CompileOptions* options);

}  // namespace thunder
