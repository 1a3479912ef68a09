// The executors for CPUs of everything but matrix products: none if our kernels are not compiled for this processor's
// instruction set. The machine must live as long.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// scaled_dot_product_attention and its gradient: tiled (flash) attention.
std::optional<ExecutorDesc> attention_executor(const Machine& machine);
// prims.conv2d and its gradients.
std::optional<ExecutorDesc> convolution_executor(const Machine& machine);
// prims.max_pool2d.
std::optional<ExecutorDesc> pooling_executor(const Machine& machine);

}  // namespace thunder
