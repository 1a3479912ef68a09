#include "executors/cuda/cudnn/session.h"

namespace thunder::cudnn {

Session::Session(const Library& library, nvidia::CudaDevice& device) : LibrarySession(library, device) {
  require(library.create(handle_.out_pointer(library.destroy)), "cudnnCreate");
}

Status* Session::follow_stream() {
  void* const now = device().native_stream();
  if (now == stream_) return nullptr;
  if (Status* failed = status(library().set_stream(handle(), static_cast<nvidia::Stream>(now)), "cudnnSetStream"))
    return failed;
  stream_ = now;
  return nullptr;
}

std::shared_ptr<Plans::Pending> Session::begin_plan(const std::string& key, const Plans::Make& make) {
  return plans_.find_or_begin(key, [this, make] {
    std::lock_guard lock(mutex_);
    if (Status* failed = device().enter()) throw Error(Ref<Status>::adopt(failed));
    return make();
  });
}

Descriptor::Descriptor(const Session& session, Kind kind) : session_(session) {
  session.require(session.library().make(kind, &desc_), "cudnnBackendCreateDescriptor");
}

Descriptor::~Descriptor() {
  if (desc_) session_.library().drop(desc_);
}

void Descriptor::set(int attribute, Type type, int64_t count, const void* values) {
  session_.require(session_.library().set(desc_, attribute, type, count, values), "cudnnBackendSetAttribute");
}

int64_t Descriptor::get(int attribute, Type type, int64_t most, void* values) const {
  int64_t count = 0;
  session_.require(session_.library().get(desc_, attribute, type, most, &count, values), "cudnnBackendGetAttribute");
  return count;
}

void Descriptor::finalize() {
  session_.require(session_.library().finalize(desc_), "cudnnBackendFinalize");
}

bool Descriptor::try_finalize() {
  return session_.library().finalize(desc_) == 0;
}

}  // namespace thunder::cudnn
