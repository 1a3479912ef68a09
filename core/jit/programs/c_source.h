// The text of an exported program: a header, and a function whose statements are the steps of a program's plan.
#pragma once

#include "jit/programs/c_program.h"
#include "loops/cpu/nest.h"

namespace thunder {

struct CSource {
  std::string header, source;
  std::vector<const loops::CpuNest*> kernels;  // NAME_kernel_1 and so on
  std::string data;  // what NAME_data holds: tensors that the program captured, and what it computes once
  bool data_changes = false;
};

// Throws unimplemented, naming the op and the user's line, at a step that no statement is known for.
CSource c_source(const CProgram& program);

// The C helpers at the start of every exported source.
extern const char* const kCRuntime;

}  // namespace thunder
