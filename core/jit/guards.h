// What a program is guarded by, as formulas: for people.
#pragma once

#include <string>

#include "cache/cache.h"

namespace thunder {

// A line each: of the inputs by their paths, of the symbols, of what was decided of them, of modules. What a program
// was compiled of speaks for it, where that has symbols.
std::string guards_report(const Entry& program);

}  // namespace thunder
