// Which of the kernels here the processor can run.
#pragma once

#include <cstdint>

namespace thunder {

enum class Instructions : uint8_t { none, avx2, avx512 };

Instructions instructions_of_this_machine();

}  // namespace thunder
