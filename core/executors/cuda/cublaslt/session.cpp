#include "executors/cuda/cublaslt/session.h"

#include "base/text.h"
#include "device/cuda/opened.h"

namespace thunder::cublaslt {
namespace {

// What the choice of an algorithm depends on besides the problem.
std::string machine_of(const Library& library, const nvidia::Properties& p) {
  return cat("cuBLASLt ", nvidia::version_text(library.version()), ", ", p.name, ", ",
             nvidia::architecture(p.major, p.minor), ", ", p.multiprocessors, " multiprocessors");
}

}  // namespace

Session::Session(const Library& library, nvidia::CudaDevice& device)
    : library_(library),
      device_(device),
      algorithms_(BlobStore::default_folder(), machine_of(library, device.properties())) {
  if (Status* failed = device.enter()) throw Error(Ref<Status>::adopt(failed));
  require(library.create(&handle_), "cublasLtCreate");
}

Session::~Session() { library_.destroy(handle_); }

Status* Session::status(int result, const char* what) const {
  if (!result) return nullptr;
  return make<Status>(Code::backend, cat(name(device_.id()), ": ", what, " failed with status ", result)).detach();
}

void Session::require(int result, const char* what) const {
  if (Status* failed = status(result, what)) throw Error(Ref<Status>::adopt(failed));
}

}  // namespace thunder::cublaslt
