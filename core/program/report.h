// Reports on a program, as text: its memory, and its kernels' loops.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// The peak of one call, exactly, and where each value of the program's trace lies, named as that is printed. Results
// are not counted: they belong to the caller.
std::string memory_report(const Program& program);

// What executors made of the program's nodes: for each that has a text, its ops and the text.
std::string loops_report(const Program& program);

}  // namespace thunder
