// Programs of files, whatever their format: ours, and ONNX, told by the content.
#pragma once

#include "jit/programs/program_file.h"

namespace thunder {

// As load_saved_program; an ONNX model has no options.
LoadedProgram load_program(const Ref<Context>& context, const std::string& path, const CompileOptions* options);
// Loads a file from memory; the bytes are copied.
LoadedProgram load_program(const Ref<Context>& context, std::span<const std::byte> bytes,
                           const CompileOptions* options);

}  // namespace thunder
