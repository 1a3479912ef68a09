// The executor of convolutions and attention on CUDA devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes prims.conv2d and its gradients of real dtypes, and scaled_dot_product_attention of bf16 and f16, on a CUDA
// device, where cuDNN can be opened: it is looked for when the first such node is met. The devices must live as long.
ExecutorDesc cudnn_executor(Devices& devices);

}  // namespace thunder
