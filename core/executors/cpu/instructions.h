// Which of the kernels here the processor can run.
#pragma once

#include <cstdint>

namespace thunder {

enum class Instructions : uint8_t { none, avx2, avx512 };

Instructions instructions_of_this_machine();

// Tile registers (AMX) that multiply bf16, beside AVX-512. The system is asked once to save them for this process.
bool tile_registers_of_this_machine();

}  // namespace thunder
