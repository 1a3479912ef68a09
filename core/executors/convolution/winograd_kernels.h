// Winograd's F(2x2, 3x3): 2 by 2 outputs of a correlation with 3 by 3 taps are sums of 16 products, where one by one they are 36. A. Lavin,
// S. Gray, Fast Algorithms for Convolutional Neural Networks (https://arxiv.org/abs/1509.09308), section 4.1, has the matrices.
//
// Like ../cpu/product_kernels.h, this is also compiled with instructions that not every machine has.
#pragma once

#include <cstdint>

namespace thunder {

struct WinogradKernels {
  static constexpr int64_t kPoints = 16, kTaps = 9;
  static constexpr int64_t kMostLanes = 16;  // what may be read or written past the end

  // even[i] = line[2 * i] and odd[i] = line[2 * i + 1] for i < count.
  void (*split)(const float* line, int64_t count, float* even, float* odd);
  // to[column * to_distance + row] = from[row * distance + column], of whole vectors of rows, with zeros where there are none; where
  // to_distance is less, the next column is written after these.
  void (*copy_transposed)(const float* from, int64_t distance, int64_t rows, int64_t columns, float* to, int64_t to_distance);
  // Of `count` tiles of 4 by 4 pixels (lanes may be neighbouring tiles, or channels): pixels[4 * y + x][lane] becomes
  // v[point * distance + lane].
  void (*tiles)(const float* const pixels[16], int64_t count, float* v, int64_t distance);
  // u[point * distance + row] of taps[tap * kMostLanes + row], for kMostLanes rows.
  void (*weights)(const float* taps, float* u, int64_t distance);
  // rows[0] and rows[1] get 2 * count outputs each, of m[point * distance + tile].
  void (*outputs)(const float* m, int64_t distance, int64_t count, float* const rows[2]);
  // Backwards: gradients of 2 by 2 outputs, dy[2 * y + x][lane], become those of the points, and those become the taps':
  // taps[tap * distance + lane] of u[point * u_distance + lane].
  void (*gradients)(const float* const dy[4], int64_t count, float* m, int64_t distance);
  void (*taps)(const float* u, int64_t u_distance, int64_t count, float* taps, int64_t distance);
};

}  // namespace thunder
