// The executor of matrix products: matmul and linear of f32 and of bf16 on the CPU.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/machine.h"
#include "base/thread_pool.h"
#include "executors/executor.h"
#include "executors/products/backends.h"

namespace thunder {

struct ProductOptions {
  Precision precision = Precision::highest;  // of f32
  // Each product of f32 is timed once, in each way that is worth a try; what was found is kept in this folder, a BlobStore's.
  // Null: the cost model chooses.
  ThreadPool* tuned_on = nullptr;  // it must live as long
  std::string folder = {};
};

// Nothing: the machine has no vector instructions that our kernels are compiled for. `report` says what was found of oneDNN, without
// which our own kernels compute what it would.
std::optional<ExecutorDesc> products_executor(const Machine& machine, const ProductOptions& options, std::string& report);
std::optional<ExecutorDesc> products_executor(std::span<const char* const> library_names, const Machine& machine, const ProductOptions& options,
                                              std::string& report);

}  // namespace thunder
