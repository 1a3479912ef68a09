// Parallel phases of a call: all threads finish one before any of them begins the next.
#pragma once

#include <algorithm>

#include "program/launch.h"

namespace thunder {

template <class Job>
struct Phases {
  const Launch* launch;

  // Calls job.kBody(i) for each i below n. `floats`: how many floats each call moves; few are not worth a thread.
  template <void (Job::*kBody)(int64_t) const>
  Status* each(int64_t n, int64_t floats) const {
    constexpr int64_t kFew = 1 << 14;
    const auto some = [](int64_t begin, int64_t end, void* arg) -> Status* {
      for (int64_t i = begin; i < end; i++) (static_cast<const Job*>(arg)->*kBody)(i);
      return nullptr;
    };
    return launch->parallel_for(launch, n, 1 + kFew / std::max<int64_t>(1, floats), some,
                                const_cast<Job*>(static_cast<const Job*>(this)));
  }
};

}  // namespace thunder
