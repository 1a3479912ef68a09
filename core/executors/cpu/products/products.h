// The executor of matrix products: matmul and linear of f32, bf16 and f16 on the CPU.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/machine.h"
#include "base/thread_pool.h"
#include "executors/executor.h"
#include "executors/cpu/products/backends.h"

namespace thunder {

// How the option max_autotune times products of f32, once for each candidate.
struct Tuning {
  ThreadPool* threads = nullptr;  // must live as long; null: nothing is timed
  std::string folder = {};        // where results are kept, as a BlobStore
};

// None: our kernels are not compiled for this processor's instruction set. `report` says whether oneDNN was found;
// without it our own kernels compute large products too.
std::optional<ExecutorDesc> products_executor(const Machine& machine, const Tuning& tuning,
                                              std::string& report,
                                              std::span<const char* const> library_names = Library::names());

}  // namespace thunder
