// The reference executor: calls each prim's reference kernel. Always there, always right.
#pragma once

#include "executors/executor.h"

namespace thunder {

ExecutorDesc host_executor();

}  // namespace thunder
