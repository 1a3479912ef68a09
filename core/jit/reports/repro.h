// One step of a program as a script of its own.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// A Lua script that computes what step `number`, from 1, computes, with inputs of the same types, compiled and by the
// reference, and prints their difference. Throws if there is no such step, or if it is a copy.
std::string repro_script(const Program& program, size_t number);

}  // namespace thunder
