// The largest pixels of windows that lie side by side.
//
// Like ../cpu/product_kernels.h, this is also compiled with instructions that not every machine has.
#pragma once

#include <cstdint>

namespace thunder {

// A row of windows over some rows of an image, copied with what lies around them: the pixel of window w at tap j is
// lines[i * line + w * stride + j * dilation], at the place first[i] + w * stride + j * dilation of the plane.
struct WindowRow {
  const float* lines;
  int64_t line, rows;
  const int32_t* first;
  int64_t taps, dilation, stride, windows;
};

struct MaxPoolKernels {
  static constexpr int64_t kMostLanes = 16;
  // With neighbours up to this many pixels apart, lines are read as far as that of whole vectors of windows, and a vector more.
  static constexpr int64_t kMostPacked = 2;

  // The first of the largest of each window, but its last NaN if it has one, and the place of that, or -1 where all pixels are negative
  // infinities. Whether there is such a window.
  bool (*row)(const WindowRow& w, float* values, int64_t* places);
};

}  // namespace thunder
