// The executor of matrix products on CUDA devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes prims.matmul of real dtypes, and linear with a bias of all of them but f64, on a CUDA device, where cuBLASLt
// can be opened: it is looked for when the first such line is met. `tf32`: operands of f32 may be rounded to TF32 (10
// bits after the point), which tensor cores multiply; sums stay f32. The devices must live as long.
ExecutorDesc cublaslt_executor(Devices& devices, bool tf32);

}  // namespace thunder
