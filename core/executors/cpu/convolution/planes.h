// A channel of an image copied with its zero padding, and split by stride: one plane for each remainder, in which
// pixels that are a stride apart are adjacent.
#pragma once

#include <cstdint>

#include "executors/cpu/convolution/winograd_kernels.h"

namespace thunder {

// Pairs are along y, along x. The element at (y, x) of the plane of remainders (py, px) is the image's at (y *
// stride[0] + py - padding[0], x * stride[1] + px - padding[1]).
struct Planes {
  int64_t image[2], stride[2], padding[2];
  int64_t kept[2];  // how many remainders some tap uses
  int64_t halo = 0;  // rows that taps read beyond those of the outputs
  int64_t rows = 0, pitch = 0;  // of a plane

  int64_t count_remainders() const { return kept[0] * kept[1]; }
  int64_t plane_floats() const { return rows * pitch; }
  int64_t channel_floats() const { return count_remainders() * plane_floats(); }

  // Makes planes large enough for `grid` outputs with a halo of so many rows and columns. The zeros to the right of a
  // row serve as those to the left of the next one.
  void choose_sizes(const int64_t grid[2], const int64_t halo_size[2]);
  // Sets a plane's number of rows for so many rows of outputs.
  void set_rows(int64_t outputs) { rows = outputs + halo; }

  // Fills the planes of one channel, whose elements are `steps` apart, from row `first` on; writes channel_floats()
  // floats. `zeros`: false where the zeros around the image are there already, from a channel with the same `first`.
  void copy_image(const WinogradKernels& transforms, const float* from, const int64_t steps[2], int64_t first,
                  float* to, bool zeros = true) const;

 private:
  // Columns of a plane that lie in the image.
  struct Inside {
    int64_t begin, end;
  };
  Inside inside(int64_t remainder) const;
};

// to[i] = from[i * step] for i < count.
void copy_row(const float* from, int64_t step, int64_t count, float* to);

// to[pixel * distance + channel] = from[channel * channel_step + pixel * pixel_step]. `vectors`: whole vectors of
// channels may be written, which go past the last channel.
void copy_channels_last(const WinogradKernels& transforms, const float* from, int64_t channel_step, int64_t pixel_step,
                        int64_t channels, int64_t pixels, float* to, int64_t distance, bool vectors = true);

}  // namespace thunder
