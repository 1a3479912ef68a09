// A channel of an image copied with its zero padding, and split by stride: one plane for each remainder, in which
// pixels that are a stride apart are adjacent.
#pragma once

#include <cstdint>

#include "executors/convolution/winograd_kernels.h"

namespace thunder {

// Pairs are along y, along x. The element at (y, x) of the plane of remainders (py, px) is the image's at (y *
// stride[0] + py - lead[0], x * stride[1] + px - lead[1]).
struct Planes {
  int64_t image[2], stride[2], lead[2];
  int64_t kept[2];  // how many remainders some tap uses
  int64_t reach = 0;  // how many rows taps reach over at most
  int64_t rows = 0, pitch = 0;  // of a plane

  int64_t remainders() const { return kept[0] * kept[1]; }
  int64_t plane() const { return rows * pitch; }
  int64_t channel() const { return remainders() * plane(); }

  // Planes large enough for `grid` outputs and taps that reach `away` rows and columns. The zeros to the right of a row
  // serve as those to the left of the next one.
  void fit(const int64_t grid[2], const int64_t away[2]);
  // Planes for so many rows of outputs.
  void take(int64_t outputs) { rows = outputs + reach; }

  // Rows from `first` on, of one channel with elements `steps` apart; writes channel() floats.
  void fill(const WinogradKernels& transforms, const float* from, const int64_t steps[2], int64_t first,
            float* to) const;

 private:
  void fill_row(const float* from, int64_t step, int64_t remainder, float* to) const;
};

// For i < count, even[i] and odd[i] become pixels 2 * i - lead and 2 * i + 1 - lead of a row of `width`, or 0 outside
// of it.
void split_row(const WinogradKernels& transforms, const float* row, int64_t width, int64_t lead, int64_t count,
               float* even, float* odd);

}  // namespace thunder
