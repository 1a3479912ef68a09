// The executor of scaled_dot_product_attention in tiles: f32 on the CPU.
#pragma once

#include <optional>

#include "executors/executor.h"
#include "executors/cpu/instructions.h"

namespace thunder {

// None where the processor has none of the instructions that its kernels are written for.
std::optional<ExecutorDesc> attention_executor(Instructions with = instructions_of_this_machine());

}  // namespace thunder
