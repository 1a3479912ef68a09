#include "executors/cuda/cudnn/session.h"

#include "base/text.h"

namespace thunder::cudnn {

Session::Session(const Library& library, nvidia::CudaDevice& device)
    : library_(library), device_(device), plans_(std::in_place) {
  if (Status* failed = device.enter()) throw Error(Ref<Status>::adopt(failed));
  require(library.create(&handle_), "cudnnCreate");
}

Status* Session::follow_stream() {
  void* const now = device_.native_stream();
  if (now == stream_) return nullptr;
  if (Status* failed = status(library_.set_stream(handle_, static_cast<nvidia::Stream>(now)), "cudnnSetStream"))
    return failed;
  stream_ = now;
  return nullptr;
}

std::shared_ptr<Plans::Pending> Session::begin_plan(const std::string& key, const Plans::Make& make) {
  return plans_->begin(key, [this, make] {
    std::lock_guard lock(mutex_);
    if (Status* failed = device_.enter()) throw Error(Ref<Status>::adopt(failed));
    return make();
  });
}

Session::~Session() {
  plans_.reset();  // which waits for the plan that is being made
  library_.destroy(handle_);
}

Status* Session::status(int result, const char* what) const {
  if (!result) return nullptr;
  const bool unsupported = result / 1000 == 3;  // CUDNN_STATUS_NOT_SUPPORTED, and what it says of why
  const std::string text = cat(name(device_.id()), ": ", what, " failed: ", library_.error_text(result));
  return make<Status>(unsupported ? Code::declined : Code::backend, text).detach();
}

void Session::require(int result, const char* what) const {
  if (Status* failed = status(result, what)) throw Error(Ref<Status>::adopt(failed));
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
