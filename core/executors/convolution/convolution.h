// The executor of convolutions.
#pragma once

#include <optional>

#include "executors/cpu/instructions.h"
#include "executors/executor.h"

namespace thunder {

// prims.conv2d and its gradients of f32 on the CPU. Nothing without vectors.
std::optional<ExecutorDesc> convolution_executor(Instructions with = instructions_of_this_machine());

}  // namespace thunder
