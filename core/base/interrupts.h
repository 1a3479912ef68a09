// How a host stops the calls that it waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace thunder {

class StepWatch;  // program/watch.h

// THUNDER_CANCELLED: nothing else gives it.
inline constexpr Code kCancelled{1};

// The interrupts of a context: other threads and signal handlers make requests, and the host answers when it is asked.
class Interrupts {
 public:
  // Returns null to go on, or the owned status that the call then returns. Called on the thread of the call.
  using Ask = Status* (*)(void* user);
  Interrupts(Ask ask_or_null, void* user) noexcept : ask_(ask_or_null), user_(user) {}

  // Calls that have begun stop; later ones do not. Any thread, and signal handlers.
  void request() noexcept { requests_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class InterruptCheck;
  static_assert(std::atomic<uint32_t>::is_always_lock_free, "a signal handler can take no lock");

  std::atomic<uint32_t> requests_{0};  // so far: a call compares, so nobody has to take a request back
  const Ask ask_;
  void* const user_;
};

// The interrupts as one call sees them, on its thread, from its start on.
class InterruptCheck {
 public:
  explicit InterruptCheck(const Interrupts& of) noexcept
      : of_(of), before_(of.requests_.load(std::memory_order_relaxed)) {}

  // Before each step, with the bytes that it reads and writes: they tell roughly when to look at the clock, which costs
  // more than a small step. Null: go on; else an owned status.
  Status* before_step(uint32_t bytes) noexcept {
    unseen_ += bytes;
    if (of_.requests_.load(std::memory_order_relaxed) == before_ && unseen_ < kUnseen) [[likely]]
      return nullptr;
    return poll();
  }
  // The same for long steps: asks the host at most once every kBetween.
  Status* poll() noexcept;
  void throw_if_interrupted();

  // The callback that is told how far a compile is.
  class Progress {
   public:
    virtual void at(std::string_view stage, size_t done, size_t total) = 0;

   protected:
    ~Progress() = default;
  };
  // Sets who is told of progress, null for nobody, and returns the previous one.
  Progress* set_progress(Progress* to) noexcept { return std::exchange(progress_, to); }
  // The watch that is told of each step of the call; null: none. `closely`: steps run one by one for it that would
  // otherwise be launched together.
  void set_watch(StepWatch* watch, bool closely = true) noexcept { watch_ = watch, closely_ = closely; }
  StepWatch* watch() const noexcept { return watch_; }
  bool watched_closely() const noexcept { return watch_ && closely_; }
  // Like throw_if_interrupted(), after `done` of `total` parts of a stage; throws what the callback throws.
  void at(std::string_view stage, size_t done, size_t total) {
    throw_if_interrupted();
    if (progress_) progress_->at(stage, done, total);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kUnseen = 1 << 20;
  static constexpr std::chrono::milliseconds kBetween{10};

  const Interrupts& of_;
  const uint32_t before_;
  uint64_t unseen_ = 0;
  Clock::time_point asked_{};
  Progress* progress_ = nullptr;
  StepWatch* watch_ = nullptr;
  bool closely_ = true;
};

}  // namespace thunder
