// The fusion executor: connected lines become one loop nest, which the target of their device runs.
#pragma once

#include "executors/executor.h"
#include "loops/target.h"

namespace thunder {

// The targets must live as long.
ExecutorDesc fusion_executor(const loops::Targets& targets);

}  // namespace thunder
