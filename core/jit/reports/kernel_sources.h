// The code of a program's kernels as text.
#pragma once

#include <string>
#include <string_view>

#include "program/program.h"

namespace thunder {

// Of each step that has code of this form ("llvm", "assembly", "cuda"), behind a line that says which step, ops and
// user's lines it is of. "": none has.
std::string kernel_sources(const Program& program, std::string_view form);

}  // namespace thunder
