// The programs of a compiled function, as files and exports take them.
#pragma once

#include "jit/call.h"
#include "jit/saved/saved_function.h"

namespace thunder {

// Those whose guards hold, oldest first. Throws where a file could not store one, and on the thread that compiles.
std::vector<SavedProgram> saved_programs(const Compiled& compiled);
// The texts of the nests that its programs run on the CPU, some more than once.
std::vector<std::string> kernel_texts(const Compiled& compiled);

}  // namespace thunder
