// The executor `cuda`: a CUDA C++ kernel for each op that fusion does not take (indexed sums, scans, pooling).
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// The devices must live as long.
ExecutorDesc cuda_executor(Devices& devices);

}  // namespace thunder
