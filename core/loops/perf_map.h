// Names of machine code that was made at run time, for `perf`.
#pragma once

#include <cstddef>
#include <string_view>

namespace thunder::loops {

// Adds a line to perf-PID.map, where `perf report` looks names up; only where the environment's THUNDER_PERF_MAP is
// "1". Any thread; what cannot be written is left out.
void record_code(const void* address, size_t bytes, std::string_view name) noexcept;

// How many bytes the function of that name has in a relocatable object (ELF); 0: it is not there.
size_t function_bytes(std::string_view object, std::string_view name);

}  // namespace thunder::loops
