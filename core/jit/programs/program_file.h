// Programs in a file: a safetensors file whose tensors are what was captured and whose metadata is everything else. The
// layout is in docs/programs.md. Loading checks all of it and runs no code of the file's.
#pragma once

#include "base/files.h"
#include "jit/call.h"
#include "jit/saved/saved_function.h"

namespace thunder {

// Of the latest layout; files of this one and of all before it are read. Files that need nothing of a later layout are
// written in an earlier one.
constexpr int64_t kProgramFileVersion = 2;

// Writes the programs that `compiled` keeps and whose guards hold; `kernels`: with the machine code of their kernels
// for the CPU. The old file stays whole on failure.
enum class SaveKernels : bool { no, yes };
void save_program(const Compiled& compiled, const std::string& path, SaveKernels kernels = SaveKernels::no);

// The options that are about the file, and none of compile's: whether machine code in it runs, which of its programs
// alone is loaded, from 1, and the values that an ONNX model gives in place of its outputs, "a,b".
constexpr const char *kRunKernels = "run_saved_kernels", *kProgram = "program", *kOutputs = "outputs";
// The others of those given (may be null).
Ref<CompileOptions> without_file_options(const CompileOptions* given);

// The contents of a file, to be compiled with the options that it was compiled with.
struct LoadedProgram {
  Ref<Function> function;
  Ref<CompileOptions> options;
};

// `options` (may be null) come before those in the file. The option run_saved_kernels, which is none of compile's:
// machine code in the file is run in place of compiling. Where it is for another machine or build, that is logged and
// kernels are compiled, or else failed_precondition. Throws data_lost for a file that is damaged or no program,
// unimplemented for one of a later version.
LoadedProgram load_saved_program(const Ref<Context>& context, const InputFile& file, const CompileOptions* options);

}  // namespace thunder
