// Reports on a program as text: results of the stages that made it.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// The peak of one call, exactly, and where each value of the program's trace lies, named as that is printed. Results
// are not counted: they belong to the caller.
std::string memory_report(const Program& program);

// The program's trace with the order in memory of results whose channels lie last.
std::string formats_report(const Program& program);

// The texts that kernels give about themselves: for each such kernel, its ops and the text.
std::string loops_report(const Program& program);

// A line for each step, in the order in which they run: its ops and its executor.
std::string kernels_report(const Program& program);
// The steps that one launch computes.
std::string joined_report(const Program& program);
// The steps that run code compiled for them, and those that run a library's.
std::string code_report(const Program& program);
// The offsets, in bytes, of all that each step reads and writes.
std::string steps_report(const Program& program);

}  // namespace thunder
