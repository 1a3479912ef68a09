// How a step's scratch memory is divided among workspaces and packed operands.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thunder::cudnn {

constexpr size_t kScratchAlign = 256;
inline size_t aligned_up(size_t bytes) { return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign; }
inline std::byte* aligned_up(void* scratch) {
  return reinterpret_cast<std::byte*>(aligned_up(reinterpret_cast<uintptr_t>(scratch)));
}

}  // namespace thunder::cudnn
