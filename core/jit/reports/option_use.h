// Which of the options of a function made a difference to its latest program.
#pragma once

#include <string>

#include "jit/call.h"

namespace thunder {

// As JSON: {"used": {name: value}, "unused": {name: why}, "unknown": {}}. One that is not known is an error when it
// is given, so that there is never one. "": there is no program yet.
std::string option_use(const Compiled& f);

}  // namespace thunder
