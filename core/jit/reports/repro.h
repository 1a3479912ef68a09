// One step of a program as a script of its own.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// A Lua script that computes what step `number`, from 1, computes, with inputs of the same types, compiled and by the
// reference, and says how far the two are apart. Throws where there is no such step, or where it is a copy.
std::string repro_script(const Program& program, size_t number);

}  // namespace thunder
