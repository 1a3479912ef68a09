#include "base/interrupts.h"

namespace thunder {

Status* InterruptCheck::poll() noexcept {
  unseen_ = 0;
  if (of_.requests_.load(std::memory_order_relaxed) != before_) {
    try {
      return make<Status>(kCancelled, "interrupted").detach();
    } catch (const std::bad_alloc&) {
      return out_of_memory_status();
    }
  }
  if (!of_.ask_) return nullptr;
  const Clock::time_point now = Clock::now();
  const bool first = asked_ == Clock::time_point{};
  if (!first && now - asked_ < kBetween) return nullptr;
  asked_ = now;
  return first ? nullptr : of_.ask_(of_.user_);
}

void InterruptCheck::throw_if_interrupted() {
  if (Status* stopped = poll()) throw Error(Ref<Status>::adopt(stopped));
}

}  // namespace thunder
