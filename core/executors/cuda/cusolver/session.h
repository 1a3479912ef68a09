// A device's handles of cuSOLVER and cuBLAS.
#pragma once

#include <mutex>

#include "device/cuda/device.h"
#include "executors/cuda/cusolver/library.h"

namespace thunder::cusolver {

class Session {
 public:
  using Library = cusolver::Library;
  // Throws backend where a handle cannot be made.
  Session(const Library& library, nvidia::CudaDevice& device);
  ~Session();
  Session(const Session&) = delete;

  const Library& library() const { return library_; }
  nvidia::CudaDevice& device() const { return device_; }
  Handle handle() const { return handle_; }
  BlasHandle blas() const { return blas_; }
  Jacobi jacobi() const { return jacobi_; }  // with the library's own tolerance
  // Makes both handles use this thread's current stream of the device. Requires: the mutex is held.
  Status* follow_stream();
  // The libraries allow one thread at a time to use a handle.
  std::mutex& mutex() { return mutex_; }
  // Null for success.
  Status* status(int result, const char* what) const;
  void require(int result, const char* what) const;

 private:
  const Library& library_;
  nvidia::CudaDevice& device_;
  Handle handle_ = nullptr;
  BlasHandle blas_ = nullptr;
  Jacobi jacobi_ = nullptr;
  std::mutex mutex_;
};

}  // namespace thunder::cusolver
