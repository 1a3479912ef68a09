// The executor of collectives on the CPU: the reference kernel, with the user's line for its messages.
#pragma once

#include "executors/executor.h"

namespace thunder {

ExecutorDesc collectives_executor();

}  // namespace thunder
