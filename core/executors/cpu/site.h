// What a call site of an executor keeps between calls.
#pragma once

#include "program/launch.h"

namespace thunder {

// Any number of threads run it at a time.
struct Site {
  virtual ~Site() = default;
  virtual Status* run(const Launch* launch) const = 0;
};

// For an executor's descriptor: its state is a Site that it owns.
inline Status* run_site(const Launch* launch, void* state) { return static_cast<const Site*>(state)->run(launch); }
inline void drop_site(void* state) { delete static_cast<Site*>(state); }

}  // namespace thunder
