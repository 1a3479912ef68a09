// The guards of a program as formulas, for people to read.
#pragma once

#include <string>

#include "cache/entry.h"

namespace thunder {

// A line each: of the inputs by their paths, of the symbols, of what was decided of them, of modules. What a program
// was compiled of speaks for it, where that has symbols.
std::string guards_report(const Entry& program);

}  // namespace thunder
