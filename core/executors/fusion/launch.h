// A compiled nest with its parameters, ready to run: how its work is divided, and what is added up at the end.
#pragma once

#include "executors/fusion/kernels.h"
#include "executors/fusion/lower.h"
#include "program/launch.h"

namespace thunder::fusion {

class Launcher {
 public:
  explicit Launcher(Lowered lowered);  // compiles; throws
  size_t scratch_bytes() const { return static_cast<size_t>(chunks_) * chunk_bytes_; }
  // Any thread. Null, or an owned status.
  Status* run(const Launch& launch) const;
  // A part of the rows and columns of a nest that `lower_tiles` made.
  void run_tile(const Launch& launch, const Tile& part) const;

 private:
  struct Work;
  Status* run_range(const Work& work, int64_t begin, int64_t end) const;
  static Status* run_items(int64_t begin, int64_t end, void* work);
  static Status* run_chunks(int64_t begin, int64_t end, void* work);
  void find_steps(const Nest& nest);
  void add_up(const Launch& launch) const;
  Status* refused(const Refusal& refusal) const;

  KernelFn kernel_ = nullptr;
  struct Steps {
    int64_t row, column;  // in bytes
  };
  std::vector<Steps> steps_;  // of a nest in parts: by argument
  std::vector<int64_t> parameters_;
  int64_t items_ = 1, grain_ = 1;
  std::vector<Partial> partials_;
  std::vector<size_t> partial_offsets_;  // in a chunk's bytes
  std::vector<Check> checks_;
  int64_t chunks_ = 0;
  size_t chunk_bytes_ = 0;  // of partial sums; no chunks: nothing is summed over the outer axes
};

}  // namespace thunder::fusion
