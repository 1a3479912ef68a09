// Hints about changes that would make a program faster, and the choices that were made for it.
#pragma once

#include <string>

#include "program/program.h"

namespace thunder {

// A line each: work that only the reference does, tensors that are copied because of their strides. "": nothing.
std::string perf_hints(const Program& program);

// For each step that was timed in several ways, which one was the fastest.
std::string choices_report(const Program& program);

}  // namespace thunder
