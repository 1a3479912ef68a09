// A compiled kernel for the CPU with its parameters. It divides its work among threads.
#pragma once

#include <functional>
#include <mutex>
#include <span>

#include "loops/cpu/partials.h"
#include "loops/cpu/stages.h"
#include "loops/target.h"

namespace thunder::loops {

constexpr size_t kMaxArguments = 384;

class CpuLauncher : public Kernel {
 public:
  // Requires: the kernel has gone through all stages. `make_nest`: makes its nest anew; any thread.
  explicit CpuLauncher(CpuKernel&& kernel);
  CpuLauncher(const CpuKernel& kernel, std::function<CpuNest()> make_nest);
  size_t scratch() const override { return partials_.bytes(); }
  // The nest of its code, the parameters that it passes, and the number of work items.
  const CpuNest& nest() const;
  KernelFn code() const { return kernel_; }
  std::span<const int64_t> arguments() const { return parameters_; }
  int64_t items() const { return items_; }
  int64_t grain() const { return grain_; }  // the least number of these that are worth a thread
  const PartialSums& partials() const { return partials_; }
  const Kernel* launcher() const override { return this; }
  Status* run(const Launch* launch) const;
  bool runs_tiles() const override { return !strides_.empty(); }
  // Runs one tile of a nest ordered for tiles.
  void run_tile(const Launch* launch, const Tile& part) const override;

 private:
  struct Work;
  Status* run_range(const Work& work, int64_t begin, int64_t end) const;
  static Status* run_items(int64_t begin, int64_t end, void* work);
  static Status* run_chunks(int64_t begin, int64_t end, void* work);
  void find_strides(const CpuNest& nest);

  KernelFn kernel_ = nullptr;
  mutable std::once_flag nest_made_;
  std::function<CpuNest()> make_nest_;  // null: it is made
  mutable CpuNest nest_;                // only who looks at it needs it
  struct Strides {
    int64_t row, column;  // in bytes
  };
  std::vector<Strides> strides_;  // by argument; empty if it does not run tiles
  std::vector<int64_t> parameters_;
  int64_t items_ = 1, grain_ = 1;
  PartialSums partials_;
  std::vector<BoundsCheck> checks_;
};

}  // namespace thunder::loops
