// Programs of files, whatever their format: ours, and ONNX, told by the content.
#pragma once

#include "jit/programs/program_file.h"

namespace thunder {

// The options that are about the file, and none of compile's: whether machine code in it runs, and the values that an
// ONNX model gives in place of its outputs, "a,b".
constexpr const char *kRunKernels = "run_saved_kernels", *kOutputs = "outputs";
// The others of those given (may be null).
Ref<CompileOptions> without_file_options(const CompileOptions* given);
Any option_any(const Leaf& leaf);

// As load_saved_program; an ONNX model has no options.
LoadedProgram load_program(const Ref<Context>& context, const std::string& path, const CompileOptions* options);
// Of a file that lies in memory; the bytes are copied.
LoadedProgram load_program(const Ref<Context>& context, std::span<const std::byte> bytes,
                           const CompileOptions* options);

}  // namespace thunder
