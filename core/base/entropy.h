// Numbers that nobody foresees: seeds that were not given, and names of temporary files.
#pragma once

#include <cstdint>

namespace thunder {

// From the operating system; where that has none, of the time, the process and an address. Never fails, takes no lock
// and allocates nothing. Not for keys.
uint64_t entropy() noexcept;

}  // namespace thunder
