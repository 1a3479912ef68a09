// The executors over oneDNN: matrix products and linear of f32 on the CPU.
#pragma once

#include <optional>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// None where the library cannot be opened or the machine cannot use it. `report` says what was found or what is missing.
std::optional<ExecutorDesc> onednn_executor(const Machine& machine, std::string& report);
std::optional<ExecutorDesc> onednn_executor(std::span<const char* const> library_names, const Machine& machine, std::string& report);

// The same, and times each product once to find the fastest way to compute it ("onednn_max_autotune"). What it found is kept in
// `folder`, a BlobStore's. The threads must live as long.
std::optional<ExecutorDesc> onednn_autotuned_executor(const Machine& machine, ThreadPool& threads, std::string folder);

}  // namespace thunder
