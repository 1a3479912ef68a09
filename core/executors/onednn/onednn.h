// The executor over oneDNN: matrix products and linear of f32 on the CPU.
#pragma once

#include <optional>

#include "executors/executor.h"

namespace thunder {

// None where the library cannot be opened or the machine cannot use it. `report` says what was found or what is missing.
std::optional<ExecutorDesc> onednn_executor(std::string& report);
std::optional<ExecutorDesc> onednn_executor(std::span<const char* const> library_names, std::string& report);

}  // namespace thunder
