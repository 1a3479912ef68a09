// What somebody else's code threw, as a status.
#pragma once

#include <string_view>

#include "base/status.h"

namespace thunder {

// Owned status of the exception being handled: an Error's own, THUNDER_OUT_OF_MEMORY of std::bad_alloc, and of any other, which is not
// ours, THUNDER_CALLBACK with what it says. `who` threw it. Requires: called inside a catch.
Status* status_of_thrown(std::string_view who) noexcept;

// The same of what our own code threw and should not have.
Status* status_of_internal() noexcept;

}  // namespace thunder
