#include "device/cuda/loans.h"

#include <new>

namespace thunder::nvidia {

void Loans::follow(const void* memory, Stream stream) {
  std::lock_guard lock(mutex_);
  followed_[memory] = stream;
}

Stream Loans::followed(const void* memory) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = followed_.find(memory);
  if (found == followed_.end()) return nullptr;
  const Stream stream = found->second;
  followed_.erase(found);
  return stream;
}

bool Loans::keep(Stream stream, void (*end)(void*), void* user) noexcept {
  Event done = nullptr;
  if (driver_.event_create(&done, kEventWithoutTime)) return false;
  std::lock_guard lock(mutex_);  // so that the order of the list is that of the points
  if (!driver_.event_record(done, stream)) {
    try {
      kept_.push_back({done, end, user});
      return true;
    } catch (const std::bad_alloc&) {
    }
  }
  driver_.event_destroy(done);
  return false;
}

void Loans::end_behind(Stream stream, void (*end)(void*), void* user) noexcept {
  settle();
  // A lost device runs nothing any more, so the memory need not be kept.
  if (driver_.stream_query(stream) == kNotReady && keep(stream, end, user)) return;
  driver_.stream_wait(stream);
  end(user);
}

bool Loans::take_first(bool all, Loan& out) noexcept {
  std::lock_guard lock(mutex_);
  if (kept_.empty() || (!all && driver_.event_query(kept_.front().done) == kNotReady)) return false;
  out = kept_.front();
  kept_.pop_front();
  return true;
}

void Loans::end_first(bool all) noexcept {
  for (Loan loan{}; take_first(all, loan);) {
    driver_.event_destroy(loan.done);
    loan.end(loan.user);
  }
}

void Loans::settle() noexcept {
  end_first(false);
}
void Loans::settle_all() noexcept {
  end_first(true);
}

}  // namespace thunder::nvidia
