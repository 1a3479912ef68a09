// The kernels that callers' ops have for devices other than the CPU.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Claims a node whose op has a kernel for the device of its tensors.
ExecutorDesc kernels_executor(Devices& devices);

}  // namespace thunder
