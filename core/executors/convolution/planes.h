// An image's channels, copied for the kernel: with zeros around them, and a plane for each remainder of the stride, in which
// pixels that are a stride apart are neighbours.
#pragma once

#include <cstdint>

namespace thunder {

// Pairs: along y, along x. The element at (y, x) of the plane of remainders (py, px) is the image's at
// (y * stride[0] + py - lead[0], x * stride[1] + px - lead[1]).
struct Planes {
  int64_t image[2], stride[2], lead[2];
  int64_t rows = 0, pitch = 0;  // of a plane; see `fit`

  int64_t remainders() const { return stride[0] * stride[1]; }
  int64_t plane() const { return rows * pitch; }
  int64_t channel() const { return remainders() * plane(); }

  // Makes planes large enough for `grid` outputs and taps up to `reach` rows and columns away. The zeros on the right of a
  // row serve as those on the left of the next one.
  void fit(const int64_t grid[2], const int64_t reach[2]);

  // From one channel with elements `steps` apart; writes channel() floats.
  void fill(const float* from, const int64_t steps[2], float* to) const;

 private:
  void fill_row(const float* from, int64_t step, int64_t remainder, float* to) const;
};

}  // namespace thunder
