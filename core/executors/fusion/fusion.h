// The fusion executor: connected lines become one loop nest, compiled for the CPU at hand.
#pragma once

#include "executors/executor.h"

namespace thunder {

ExecutorDesc fusion_executor();

}  // namespace thunder
