#include "executors/cuda/cusolver/session.h"

#include "base/text.h"

namespace thunder::cusolver {

Session::Session(const Library& library, nvidia::CudaDevice& device) : library_(library), device_(device) {
  if (Status* failed = device.enter()) throw Error(Ref<Status>::adopt(failed));
  require(library.solver->create(&handle_), "cusolverDnCreate");
  require(library.blas->create(&blas_), "cublasCreate");
  require(library.solver->create_jacobi(&jacobi_), "cusolverDnCreateGesvdjInfo");
}

Session::~Session() {
  library_.solver->destroy_jacobi(jacobi_);
  library_.blas->destroy(blas_);
  library_.solver->destroy(handle_);
}

Status* Session::follow_stream() {
  const auto stream = static_cast<nvidia::Stream>(device_.native_stream());
  if (Status* failed = status(library_.solver->set_stream(handle_, stream), "cusolverDnSetStream")) return failed;
  return status(library_.blas->set_stream(blas_, stream), "cublasSetStream");
}

Status* Session::status(int result, const char* what) const {
  if (!result) return nullptr;
  return make<Status>(Code::backend, cat(name(device_.id()), ": ", what, " failed with status ", result)).detach();
}

void Session::require(int result, const char* what) const {
  if (Status* failed = status(result, what)) throw Error(Ref<Status>::adopt(failed));
}

}  // namespace thunder::cusolver
