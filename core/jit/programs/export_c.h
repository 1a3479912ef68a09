// A saved program as C: a function over plain arrays, its kernels as objects and its tensors as data, which needs
// neither the library nor LLVM.
#pragma once

#include "jit/programs/load_program.h"

namespace thunder {

std::span<const OptionRow> export_options();

// Writes NAME.h, NAME.c and, where it has any, NAME_data.bin with NAME_data.S, and NAME_kernel_K.o, into the folder,
// which it makes; docs/programs.md says what they are. Throws as load_program does, and unimplemented, naming the op
// and the user's line, if a step cannot be written as C.
void export_c(const Ref<Context>& context, const std::string& program, const std::string& folder,
              const Options* options);

}  // namespace thunder
