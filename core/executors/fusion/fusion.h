// The fusion executor, which makes one loop nest of connected nodes and runs it on the target of their device.
#pragma once

#include "executors/executor.h"
#include "loops/target.h"

namespace thunder {

// The targets must live as long.
ExecutorDesc fusion_executor(const loops::Targets& targets);

}  // namespace thunder
