// What a program needs in memory, in words.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// Lines: the peak of one call, exactly, and where each value of the program's trace lies. Results are not counted: they
// are the caller's.
std::string memory_report(const Program& program);

// What executors made of the program's lines, where they say it: each under the ops of the line.
std::string loops_report(const Program& program);

}  // namespace thunder
