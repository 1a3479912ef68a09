// Parallel tasks that need scratch. A few slots share the launch's scratch, and each slot runs its tasks one by one.
#pragma once

#include <algorithm>

#include "program/launch.h"

namespace thunder {

class Slots {
 public:
  Slots() = default;
  // `max_slots`: how many tasks run at the same time at most. `elements`: floats of scratch for a task.
  Slots(int64_t tasks, int64_t max_slots, int64_t elements)
      : tasks_(tasks), slots_(std::min(tasks, max_slots)), elements_((elements + 15) / 16 * 16) {}

  size_t bytes() const { return static_cast<size_t>(slots_ * elements_) * sizeof(float); }

  // Calls task(index, scratch) for each index; slot s runs the tasks s, s + slots, ... Null, or the first failure.
  template <class F>
  Status* run(const Launch* launch, const F& task) const {
    const Job<F> job{*this, static_cast<float*>(launch->scratch), task};
    return launch->parallel_for(launch, slots_, 1, run_slots<F>, const_cast<Job<F>*>(&job));
  }

 private:
  template <class F>
  struct Job {
    const Slots& slots;
    float* scratch;
    const F& task;
  };
  template <class F>
  static Status* run_slots(int64_t begin, int64_t end, void* arg) {
    const auto& job = *static_cast<const Job<F>*>(arg);
    for (int64_t slot = begin; slot < end; slot++)
      for (int64_t i = slot; i < job.slots.tasks_; i += job.slots.slots_)
        if (Status* failed = job.task(i, job.scratch + slot * job.slots.elements_)) return failed;
    return nullptr;
  }

  int64_t tasks_ = 0, slots_ = 0, elements_ = 0;
};

}  // namespace thunder
