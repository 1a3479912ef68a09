// The kernels that callers' ops have for devices other than the CPU.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Claims a line whose op has a kernel for the device that its tensors are on.
ExecutorDesc kernels_executor(Devices& devices);

}  // namespace thunder
