// A device's handle of cuBLASLt.
#pragma once

#include "device/cuda/device.h"
#include "executors/cuda/cublaslt/algorithm_cache.h"
#include "executors/cuda/cublaslt/library.h"

namespace thunder::cublaslt {

class Session {
 public:
  using Library = cublaslt::Library;
  // Throws backend where the handle cannot be made.
  Session(const Library& library, nvidia::CudaDevice& device);
  ~Session();
  Session(const Session&) = delete;

  const Library& library() const { return library_; }
  nvidia::CudaDevice& device() const { return device_; }
  Handle handle() const { return handle_; }
  // Has its own lock.
  AlgorithmCache& algorithms() const { return algorithms_; }
  // Null for success.
  Status* status(int result, const char* what) const;
  void require(int result, const char* what) const;

 private:
  const Library& library_;
  nvidia::CudaDevice& device_;
  Handle handle_ = nullptr;
  mutable AlgorithmCache algorithms_;
};

}  // namespace thunder::cublaslt
