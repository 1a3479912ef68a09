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

struct ProductOptions {
  Precision precision = Precision::highest;  // for f32
  // If set, each product of f32 is timed once with each candidate, on these threads; results are kept in `folder`, as a
  // BlobStore. Null: the cost model chooses.
  ThreadPool* tuned_on = nullptr;  // must live as long
  std::string folder = {};
};

// None: our kernels are not compiled for this processor's instruction set. `report` says whether oneDNN was found;
// without it our own kernels compute large products too.
std::optional<ExecutorDesc> products_executor(const Machine& machine, const ProductOptions& options,
                                              std::string& report,
                                              std::span<const char* const> library_names = Library::names());

}  // namespace thunder
