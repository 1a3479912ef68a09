// Nodes that fusion does not take, each by a CUDA C++ kernel of its own: indexed sums and updates, scans, pooling.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// The devices must live as long.
ExecutorDesc cuda_executor(Devices& devices);

}  // namespace thunder
