// The executor of linear algebra on CUDA devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes factors, systems and determinants of float32 and float64 on a CUDA device, where cuSOLVER and cuBLAS can be
// opened: they are looked for when the first such line is met. The devices must live as long.
ExecutorDesc cusolver_executor(Devices& devices);

}  // namespace thunder
