// The fusion executor: connected lines become one loop nest, compiled for the CPU at hand.
#pragma once

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// The machine must live as long.
ExecutorDesc fusion_executor(const Machine& machine);

}  // namespace thunder
