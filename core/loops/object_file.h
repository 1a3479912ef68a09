// Loads relocatable objects (ELF) that the emitter made, without LLVM.
#pragma once

#include <string>
#include <string_view>

#include "loops/emitter.h"

namespace thunder::loops {

// The function of that name; its code stays loaded until the process ends. Null: `error` says why. Objects are for
// x86-64, read at run time alone, and call nothing but callable_functions(). Whatever the bytes are, reading them does
// no harm; running the function does what its code does.
KernelFn load_object(std::string_view object, const char* name, std::string& error);

}  // namespace thunder::loops
