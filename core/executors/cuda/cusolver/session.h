// A device's handles of cuSOLVER and cuBLAS.
#pragma once

#include <mutex>

#include "executors/cuda/cusolver/library.h"
#include "executors/cuda/sessions.h"

namespace thunder::cusolver {

class Session : public nvidia::LibrarySession<Library> {
 public:
  // Throws backend where a handle cannot be made.
  Session(const Library& library, nvidia::CudaDevice& device);

  Handle handle() const { return handle_.get(); }
  BlasHandle blas() const { return blas_.get(); }
  Jacobi jacobi() const { return jacobi_.get(); }  // with the library's own tolerance
  // Makes both handles use this thread's current stream of the device. Requires: the mutex is held.
  Status* follow_stream();
  // The libraries allow one thread at a time to use a handle.
  std::mutex& mutex() { return mutex_; }

 private:
  nvidia::OwnedHandle<Handle> handle_;
  nvidia::OwnedHandle<BlasHandle> blas_;
  nvidia::OwnedHandle<Jacobi> jacobi_;
  std::mutex mutex_;
};

}  // namespace thunder::cusolver
