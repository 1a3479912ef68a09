// Which of the kernels here the processor can run.
#pragma once

#include <cstdint>

namespace thunder {

enum class Instructions : uint8_t { none, neon, avx2, avx512 };

Instructions instructions_of_this_machine();

// Tile registers (AMX) that multiply bf16, beside AVX-512, and a system that can save them.
bool tile_registers_of_this_machine();

// Asks the system, once, to save them for this process, whose signal frames then take 8 KiB more. False: it does not.
// Requires: they are of this machine. To be called before they are used. Any thread.
bool enable_tile_registers();

}  // namespace thunder
