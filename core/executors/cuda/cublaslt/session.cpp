#include "executors/cuda/cublaslt/session.h"

#include "base/text.h"
#include "device/cuda/opened.h"

namespace thunder::cublaslt {
namespace {

// The facts, besides the problem, on which the choice of an algorithm depends.
std::string describe_machine(const Library& library, const nvidia::Properties& p) {
  return cat("cuBLASLt ", nvidia::version_text(library.version()), ", ", p.name, ", ",
             nvidia::architecture(p.major, p.minor), ", ", p.multiprocessors, " multiprocessors");
}

}  // namespace

Session::Session(const Library& library, nvidia::CudaDevice& device)
    : LibrarySession(library, device),
      algorithms_(BlobStore::default_folder(), describe_machine(library, device.properties())) {
  require(library.create(handle_.out_pointer(library.destroy)), "cublasLtCreate");
}

}  // namespace thunder::cublaslt
