// Ranges for NVIDIA's profilers: NVTX, one around each step of a call.
#pragma once

#include "program/watch.h"

namespace thunder {

// Whether a profiler is there to see them, or THUNDER_NVTX names a library: asked once a process.
bool ranges_are_wanted();

// Opens a range on the calling thread before each step, "FUNCTION: OPS", and closes it after.
// Requires: ranges_are_wanted().
class Ranges final : public StepWatch {
 public:
  ~Ranges() { close(); }
  void before(const Program& program, size_t at, const Launch&) override;
  void after(const Program&, size_t, const Launch&) override { close(); }

 private:
  void close();
  bool open_ = false;  // a step that fails leaves it so
};

}  // namespace thunder
