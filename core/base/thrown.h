// The current exception as a status.
#pragma once

#include <string_view>

#include "base/status.h"

namespace thunder {

// Owned status of the exception being handled: an Error's own, THUNDER_OUT_OF_MEMORY of std::bad_alloc, and of any
// other, which is not ours, THUNDER_CALLBACK with what it says. `who` threw it. Requires: called inside a catch.
Status* status_of_thrown(std::string_view who) noexcept;

// The same for exceptions of the library: other types than these two are its bugs, THUNDER_INTERNAL.
Status* status_of_internal() noexcept;

// Runs what returns a status or throws, behind an interface that only returns statuses.
template <class F>
Status* catch_as_status(F&& run) noexcept {
  try {
    return run();
  } catch (...) {
    return status_of_internal();
  }
}

}  // namespace thunder
