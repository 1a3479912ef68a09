// The executor of matrix products on CUDA devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

struct CublasltOptions {
  bool tf32 = false;   // operands of f32 may be rounded to TF32 (10 bits after the point); sums stay f32
  bool timed = false;  // products are computed by the fastest of several algorithms, which are timed when they compile
};

// Takes prims.matmul of real dtypes, and linear with a bias of all of them but f64, on a CUDA device, where cuBLASLt
// can be opened: it is looked for when the first such line is met. The devices must live as long.
ExecutorDesc cublaslt_executor(Devices& devices, const CublasltOptions& options);

}  // namespace thunder
