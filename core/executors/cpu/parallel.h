// Loops on the threads of a launch.
#pragma once

#include <algorithm>

#include "program/launch.h"

namespace thunder {

// Calls body(begin, end) for parts of [0, n) of at least `grain` indices. Null, or the first failure, owned.
template <class F>
Status* parallel_for(const Launch* launch, int64_t n, int64_t grain, const F& body) {
  const auto part = [](int64_t begin, int64_t end, void* arg) { return (*static_cast<const F*>(arg))(begin, end); };
  return launch->parallel_for(launch, n, grain, part, const_cast<F*>(&body));
}

// Calls (job.*body)(i) for each i below n, on the threads of job.launch. `floats`: how many floats each call moves; few
// are not worth a thread.
template <class Job>
Status* for_each_index(const Job& job, void (Job::*body)(int64_t) const, int64_t n, int64_t floats) {
  constexpr int64_t kFew = 1 << 14;
  const int64_t grain = 1 + kFew / std::max<int64_t>(1, floats);
  return parallel_for(job.launch, n, grain, [&](int64_t begin, int64_t end) -> Status* {
    for (int64_t i = begin; i < end; i++) (job.*body)(i);
    return nullptr;
  });
}

// Parallel tasks that need scratch. A few slots share the launch's scratch, and each slot runs its tasks one by one.
class Slots {
 public:
  Slots() = default;
  // `max_slots`: how many tasks run at the same time at most. `elements`: floats of scratch for a task.
  Slots(int64_t tasks, int64_t max_slots, int64_t elements)
      : tasks_(tasks), slots_(std::min(tasks, max_slots)), elements_((elements + 15) / 16 * 16) {}

  size_t bytes() const { return static_cast<size_t>(slots_ * elements_) * sizeof(float); }

  // Calls share(begin, end, scratch) for each slot, whose tasks are adjacent.
  template <class F>
  Status* run_shares(const Launch* launch, const F& share) const {
    auto* const scratch = static_cast<float*>(launch->scratch);
    return parallel_for(launch, slots_, 1, [&](int64_t begin, int64_t end) -> Status* {
      for (int64_t slot = begin; slot < end; slot++)
        share(slot * tasks_ / slots_, (slot + 1) * tasks_ / slots_, scratch + slot * elements_);
      return nullptr;
    });
  }
  // Calls task(index, scratch) for each index; slot s runs the tasks s, s + slots, ...
  template <class F>
  Status* run(const Launch* launch, const F& task) const {
    auto* const scratch = static_cast<float*>(launch->scratch);
    return parallel_for(launch, slots_, 1, [&](int64_t begin, int64_t end) -> Status* {
      for (int64_t slot = begin; slot < end; slot++)
        for (int64_t i = slot; i < tasks_; i += slots_) task(i, scratch + slot * elements_);
      return nullptr;
    });
  }

 private:
  int64_t tasks_ = 0, slots_ = 0, elements_ = 0;
};

}  // namespace thunder
