// Executors for products on tile registers (AMX).
#pragma once

#include <optional>

#include "executors/executor.h"

namespace thunder {

// matmul and linear of bf16, with sums in f32. Nothing: the processor has no such registers.
std::optional<ExecutorDesc> amx_executor();

// Of f32, in the precision that float32_matmul_precision names so: "amx_high", "amx_medium". They leave small products to
// others.
std::optional<ExecutorDesc> amx_high_executor();
std::optional<ExecutorDesc> amx_medium_executor();

}  // namespace thunder
