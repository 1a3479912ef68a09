#include "executors/cuda/cublaslt/session.h"

#include "base/text.h"
#include "device/cuda/opened.h"

namespace thunder::cublaslt {
namespace {

// The facts, besides the problem, on which the choice of an algorithm depends.
std::string machine_of(const Library& library, const nvidia::Properties& p) {
  return cat("cuBLASLt ", nvidia::version_text(library.version()), ", ", p.name, ", ",
             nvidia::architecture(p.major, p.minor), ", ", p.multiprocessors, " multiprocessors");
}

}  // namespace

Session::Session(const Library& library, nvidia::CudaDevice& device)
    : LibrarySession(library, device),
      algorithms_(BlobStore::default_folder(), machine_of(library, device.properties())) {
  require(library.create(handle_.made_by(library.destroy)), "cublasLtCreate");
}

}  // namespace thunder::cublaslt
