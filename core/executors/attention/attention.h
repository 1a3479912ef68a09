// The executor of scaled_dot_product_attention in tiles: f32 on the CPU.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// None where the processor has none of the instructions that its kernels are written for. The machine must live as long.
std::optional<ExecutorDesc> attention_executor(const Machine& machine);

}  // namespace thunder
