// Direct convolution by implicit im2col: y[row, pixel] = sum over (channel, tap) of weight[row, channel, tap]
// plane[channel, pixel + tap].
#pragma once

#include <vector>

#include "executors/cpu/convolution/planes.h"
#include "executors/cpu/convolution/ops.h"
#include "executors/cpu/convolution/window.h"

namespace thunder {

// Outputs that are on one grid and use the same taps. Pairs are along y, along x.
struct Grid {
  int64_t size[2] = {0, 0};
  int64_t first[2] = {0, 0}, step[2] = {1, 1};  // the positions of its outputs in the result
  std::vector<int64_t> taps;  // indices into the kernel
  std::vector<int64_t> tap_offsets;  // by tap, in the planes of a channel
};

// The planes of a forward, whose rows are those of all outputs, and the size of its grid.
Planes forward_planes(const Window& w, Grid& grid);
// When the planes have the rows that they will have.
void add_forward_taps(const Window& w, const Planes& planes, Grid& grid);

// The channel axis of the weight that is summed over; the other one is that of the result.
enum class Summed : size_t { outputs = 0, inputs = 1 };

// How many of `rows` rows of outputs are one task, so that the planes of all `channels` stay in the L2 cache and each
// thread has work.
int64_t choose_correlation_band(const Window& w, const Planes& planes, int64_t rows, int64_t channels,
                                const Machine& machine);

// `planes`: of `band` rows of the grids. `sparse`: some of the result belongs to no grid, and is zero.
KernelPtr prepare_correlation(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
                              std::vector<Grid> grids, Summed summed, bool sparse);

}  // namespace thunder
