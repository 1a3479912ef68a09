// The executor of collectives in memory that the ranks' engine reaches: the reference kernel, with the user's line for
// its messages. Where it does not reach a device, what is there goes through the host.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

ExecutorDesc collectives_executor(Devices& devices);

}  // namespace thunder
