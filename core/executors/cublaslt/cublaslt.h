// The executor of matrix products on CUDA devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes prims.matmul of f32, f64 and bf16 on a CUDA device, where cuBLASLt can be opened: it is looked for when the first such
// line is met. The devices must live as long.
ExecutorDesc cublaslt_executor(Devices& devices);

}  // namespace thunder
