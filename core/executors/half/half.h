// The executor of products of bf16 with vectors of f32.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// prims.matmul and linear of bf16 on the CPU. Nothing without vectors.
std::optional<ExecutorDesc> half_executor(const Machine& machine);

}  // namespace thunder
