#include "executors/cuda/cusolver/session.h"

namespace thunder::cusolver {

Session::Session(const Library& library, nvidia::CudaDevice& device) : LibrarySession(library, device) {
  const Solver& solver = *library.solver;
  require(solver.create(handle_.out_pointer(solver.destroy)), "cusolverDnCreate");
  require(library.blas->create(blas_.out_pointer(library.blas->destroy)), "cublasCreate");
  require(solver.create_jacobi(jacobi_.out_pointer(solver.destroy_jacobi)), "cusolverDnCreateGesvdjInfo");
}

Status* Session::follow_stream() {
  const auto stream = static_cast<nvidia::Stream>(device().native_stream());
  if (Status* failed = status(library().solver->set_stream(handle(), stream), "cusolverDnSetStream")) return failed;
  return status(library().blas->set_stream(blas(), stream), "cublasSetStream");
}

}  // namespace thunder::cusolver
