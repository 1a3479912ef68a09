// Max pooling of adjacent windows.
//
// Like ../product_kernels.h, this header is also compiled with instructions that not every machine has.
#pragma once

#include <cstdint>

namespace thunder {

// A row of windows over some rows of a padded image: the pixel of window w at tap j is pixels[i * pitch + w * stride +
// j * dilation], whose index in the plane is first[i] + w * stride + j * dilation.
struct WindowRow {
  const float* pixels;
  int64_t pitch, rows;
  const int32_t* first;
  int64_t taps, dilation, stride, windows;
};

struct MaxPoolKernels {
  static constexpr int64_t kMaxLanes = 16;
  // With strides up to this, rows are read up to whole vectors of windows, and one vector further.
  static constexpr int64_t kMaxPacked = 2;

  // The maximum of each window and its index: the first of equal ones, but the last NaN if there is one, and index -1
  // where all pixels are -inf. Returns whether there is such a window.
  bool (*row)(const WindowRow& w, float* values, int64_t* indices);
};

}  // namespace thunder
