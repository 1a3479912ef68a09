// The executor of pooling.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// prims.max_pool2d of f32 on the CPU. None if our kernels are not compiled for this processor's instruction set.
std::optional<ExecutorDesc> pooling_executor(const Machine& machine);

}  // namespace thunder
