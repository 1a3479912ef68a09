// Executors for products on tile registers (AMX).
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// matmul and linear of bf16, with sums in f32. Nothing: the processor has no such registers.
std::optional<ExecutorDesc> amx_executor(const Machine& machine);

// Of f32, in the precision that float32_matmul_precision names so: "amx_high", "amx_medium". They leave small products to
// others.
std::optional<ExecutorDesc> amx_high_executor(const Machine& machine);
std::optional<ExecutorDesc> amx_medium_executor(const Machine& machine);

}  // namespace thunder
