// What a program needs in memory, in words.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// Lines: the peak of one call, exactly, and where each value of the program's trace lies. Results are not counted: they
// are the caller's.
std::string memory_report(const Program& program);

}  // namespace thunder
