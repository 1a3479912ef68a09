// The executor of scaled_dot_product_attention: tiled (flash) attention for f32 on the CPU.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// None if our kernels are not compiled for this processor's instruction set. The machine must live as long.
std::optional<ExecutorDesc> attention_executor(const Machine& machine);

}  // namespace thunder
