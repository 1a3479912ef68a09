// A channel of an image, copied for the kernel: with zeros around it, and a plane for each remainder of the stride, in which
// pixels that are a stride apart are neighbours.
#pragma once

#include <cstdint>

#include "executors/convolution/winograd_kernels.h"

namespace thunder {

// Pairs: along y, along x. The element at (y, x) of the plane of remainders (py, px) is the image's at
// (y * stride[0] + py - lead[0], x * stride[1] + px - lead[1]).
struct Planes {
  int64_t image[2], stride[2], lead[2];
  int64_t kept[2];               // remainders that some tap sees: those below
  int64_t reach = 0;            // rows that taps are away at most
  int64_t rows = 0, pitch = 0;  // of a plane

  int64_t remainders() const { return kept[0] * kept[1]; }
  int64_t plane() const { return rows * pitch; }
  int64_t channel() const { return remainders() * plane(); }

  // Makes planes large enough for `grid` outputs and taps up to `away` rows and columns away. The zeros on the right of a
  // row serve as those on the left of the next one.
  void fit(const int64_t grid[2], const int64_t away[2]);
  // As large as so many rows of outputs take.
  void take(int64_t outputs) { rows = outputs + reach; }

  // Rows from `first` on, of one channel with elements `steps` apart; writes channel() floats.
  void fill(const WinogradKernels& transforms, const float* from, const int64_t steps[2], int64_t first, float* to) const;

 private:
  void fill_row(const float* from, int64_t step, int64_t remainder, float* to) const;
};

// even[i] and odd[i], for i < count, are the pixels 2 * i - lead and 2 * i + 1 - lead of a row of `width`, or zeros beyond it.
void split_row(const WinogradKernels& transforms, const float* row, int64_t width, int64_t lead, int64_t count, float* even, float* odd);

}  // namespace thunder
