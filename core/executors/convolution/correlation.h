// Sums over channels and taps: y[row, pixel] = sum over (channel, tap) of weight[row, channel, tap] plane[channel, pixel + tap].
#pragma once

#include <algorithm>
#include <vector>

#include "executors/convolution/planes.h"
#include "executors/convolution/window.h"
#include "executors/cpu/kernel.h"
#include "executors/cpu/site.h"

namespace thunder {

// Outputs that lie on one grid and see the same taps. Pairs: along y, along x.
struct Grid {
  int64_t size[2] = {0, 0};
  int64_t first[2] = {0, 0}, step[2] = {1, 1};  // where its outputs lie in the result
  std::vector<int64_t> taps;                    // of the kernel
  std::vector<int64_t> places;                  // of each tap, in the planes of a channel
};

// The weight's strides: along the channels that are summed over, those of the result, groups, and the kernel.
struct WeightSteps {
  int64_t sum, row, group, tap[2];
};

class Correlation : public Site {
 public:
  // `sums`, `rows`: channels of a group to sum over, and of the result. `sparse`: no grid has some of the result.
  Correlation(const Kernels& kernels, const Window& window, Planes planes, std::vector<Grid> grids, int64_t sums, int64_t rows, bool sparse = false);

  // Bytes that a call needs.
  size_t scratch() const;

 protected:
  Status* run_with(const Launch* launch, const WeightSteps& steps) const;

  const Window w;

 private:
  struct Job;
  struct Weights {
    int64_t at, depth;            // where a grid's weights begin, and over how many elements a sum goes
    std::vector<int32_t> offsets;  // of those in the planes of an image
  };
  int64_t blocks() const { return (rows_ + block_rows_ - 1) / block_rows_; }
  int64_t rows_of(int64_t block) const { return std::min(block_rows_, rows_ - block * block_rows_); }
  int64_t group_weights() const;
  int64_t image_planes() const { return w.groups * sums_ * planes_.channel(); }

  void pack(const WeightSteps& steps, const float* weight, int64_t group, size_t grid, int64_t block, float* to) const;

  const Kernels& kernels_;
  const Planes planes_;
  const std::vector<Grid> grids_;
  const int64_t sums_, rows_;
  const bool sparse_;
  int64_t block_rows_;  // of a panel, nearly the same for all
  std::vector<Weights> weights_;
  int64_t images_ = 1;  // whose planes are there at a time
};

}  // namespace thunder
