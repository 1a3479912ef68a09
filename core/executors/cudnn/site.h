// A node of a trace that cuDNN runs.
#pragma once

#include <memory>

#include "executors/cudnn/session.h"
#include "executors/executor.h"

namespace thunder::cudnn {

class Site {
 public:
  virtual ~Site() = default;
  // Specialises it for the layouts of view.inputs and view.outputs. Returns the bytes of scratch that each run needs.
  // Throws what the library reports. If it is not called, each run plans for its own layouts.
  virtual size_t lay_out(const NodeView& view) = 0;
  // Once before the first run. Throws.
  virtual void finish() {}
  // Null, or an owned status.
  virtual Status* run(const Launch& launch) = 0;
};

constexpr size_t kScratchAlign = 256;
inline size_t aligned_up(size_t bytes) { return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign; }
inline std::byte* aligned_up(void* scratch) {
  return reinterpret_cast<std::byte*>(aligned_up(reinterpret_cast<uintptr_t>(scratch)));
}

}  // namespace thunder::cudnn
