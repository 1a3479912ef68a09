// The executor of convolutions.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// prims.conv2d and its gradients of f32 on the CPU. None if our kernels are not compiled for this processor's
// instruction set. The machine must live as long.
std::optional<ExecutorDesc> convolution_executor(const Machine& machine);

}  // namespace thunder
