#include "base/status.h"

#include <new>

namespace thunder {

Status::Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

Error::Error(Code code, std::string message) : status_(make<Status>(code, std::move(message))) {}

Status::~Status() {
  if (destroy_) destroy_(object_);
}

void Status::set_foreign(std::string tag, void* object, void (*destroy)(void*)) {
  if (destroy_) destroy_(object_);
  tag_ = std::move(tag);
  object_ = object;
  destroy_ = destroy;
}

Status* out_of_memory_status() noexcept {
  // Placed in static storage: its count starts at one that nobody owns, so no release destroys it.
  alignas(Status) static unsigned char place[sizeof(Status)];
  static Status* const status = new (place) Status(Code::out_of_memory, "out of memory");
  status->retain();
  return status;
}

}  // namespace thunder
