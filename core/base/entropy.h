// Unpredictable numbers: seeds where none was given, and names of temporary files.
#pragma once

#include <cstdint>

namespace thunder {

// Random bytes from the operating system, or, if it has none, made from the time, the process id and an address. Never
// fails, takes no lock and allocates nothing. Not for cryptographic keys.
uint64_t entropy() noexcept;

}  // namespace thunder
