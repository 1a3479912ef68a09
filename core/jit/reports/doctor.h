// A report on an installation: what it has, what it lacks and why, for users who ask why something is slow or missing.
#pragma once

#include <string>
#include <vector>

#include "jit/context/context.h"

namespace thunder {

struct Finding {
  enum class State : uint8_t { works, missing, fails };
  std::string name;
  std::string text;  // what is there, or why it is not
  State state = State::works;
};

// Compiles and runs a fused kernel, and writes to the cache folder to see whether it can.
std::vector<Finding> examine(Context& context);

}  // namespace thunder
