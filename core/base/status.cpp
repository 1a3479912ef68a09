#include "base/status.h"

#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "base/handle_history.h"

namespace thunder {
namespace {

// The statuses that were released last, where the history of handles is kept. Never destroyed: one may be released
// while the process ends.
struct Released {
  std::mutex mutex;
  std::array<Status*, 1024> kept{};
  size_t next = 0;
};

}  // namespace

Status::Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

Error::Error(Code code, std::string message) : status_(make<Status>(code, std::move(message))) {}

Status::~Status() {
  if (destroy_) destroy_(object_);
}

void Status::destroy() const {
  if (!HandleHistory::is_kept()) return delete this;
  static Released& last = *new Released;
  auto& self = const_cast<Status&>(*this);
  if (auto* const destroy = std::exchange(self.destroy_, nullptr)) destroy(std::exchange(self.object_, nullptr));
  self.message_ = std::string();
  self.released_ = true;
  const std::lock_guard lock(last.mutex);
  delete std::exchange(last.kept[last.next++ % last.kept.size()], &self);
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
