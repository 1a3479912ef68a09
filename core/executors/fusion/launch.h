// A compiled nest with its parameters, ready to run: how its work is divided.
#pragma once

#include "loops/kernels.h"
#include "executors/fusion/lower.h"
#include "executors/fusion/partials.h"
#include "program/launch.h"

namespace thunder::fusion {

class Launcher {
 public:
  Launcher(Lowered lowered, const Machine& machine);  // compiles; throws
  size_t scratch_bytes() const { return partials_.bytes(); }
  // Any thread. Null, or an owned status.
  Status* run(const Launch& launch) const;
  // A part of the rows and columns of a nest that `lower_tiles` made.
  void run_tile(const Launch& launch, const Tile& part) const;

 private:
  struct Work;
  Status* run_range(const Work& work, int64_t begin, int64_t end) const;
  static Status* run_items(int64_t begin, int64_t end, void* work);
  static Status* run_chunks(int64_t begin, int64_t end, void* work);
  void find_steps(const CpuNest& nest);
  Status* refused(const Refusal& refusal) const;

  loops::KernelFn kernel_ = nullptr;
  struct Steps {
    int64_t row, column;  // in bytes
  };
  std::vector<Steps> steps_;  // of a nest in parts: by argument
  std::vector<int64_t> parameters_;
  int64_t items_ = 1, grain_ = 1;
  PartialSums partials_;
  std::vector<Check> checks_;
};

}  // namespace thunder::fusion
