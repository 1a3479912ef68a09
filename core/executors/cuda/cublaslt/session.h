// A device's handle of cuBLASLt.
#pragma once

#include "executors/cuda/cublaslt/algorithm_cache.h"
#include "executors/cuda/cublaslt/library.h"
#include "executors/cuda/sessions.h"

namespace thunder::cublaslt {

class Session : public nvidia::LibrarySession<Library> {
 public:
  // Throws backend where the handle cannot be made.
  Session(const Library& library, nvidia::CudaDevice& device);

  Handle handle() const { return handle_.get(); }
  // The cache has its own lock.
  AlgorithmCache& algorithms() const { return algorithms_; }

 private:
  nvidia::OwnedHandle<Handle> handle_;
  mutable AlgorithmCache algorithms_;
};

}  // namespace thunder::cublaslt
