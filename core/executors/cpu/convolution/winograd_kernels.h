// The transforms of Winograd's F(2x2, 3x3): 2 by 2 outputs of a correlation with 3 by 3 taps take 16 products rather
// than 36. A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks (https://arxiv.org/abs/1509.09308),
// section 4.1, has the matrices.
//
// Like ../product_kernels.h, this header is also compiled with instructions that not every machine has.
#pragma once

#include <cstdint>

namespace thunder {

struct WinogradKernels {
  static constexpr int64_t kPoints = 16, kTaps = 9;
  static constexpr int64_t kMaxLanes = 16;  // how many floats past the end may be read or written

  // even[i] = line[2 * i] and odd[i] = line[2 * i + 1] for i < count.
  void (*split)(const float* line, int64_t count, float* even, float* odd);
  // to[column * to_distance + row] = from[row * distance + column], in whole vectors of rows, padded with zeros; where
  // to_distance is less than that, the next column overwrites the padding.
  void (*copy_transposed)(const float* from, int64_t distance, int64_t rows, int64_t columns, float* to,
                          int64_t to_distance);
  // The input transform of `count` tiles of 4 by 4 pixels (lanes are adjacent tiles, or channels): pixels[4 * y +
  // x][lane] becomes v[point * distance + lane].
  void (*transform_inputs)(const float* const pixels[16], int64_t count, float* v, int64_t distance);
  // The weight transform: u[point * distance + row] of taps[tap * kMaxLanes + row], for kMaxLanes rows.
  void (*transform_weights)(const float* taps, float* u, int64_t distance);
  // The output transform: rows[0] and rows[1] get 2 * count outputs each, of m[point * distance + tile].
  void (*transform_outputs)(const float* m, int64_t distance, int64_t count, float* const rows[2]);
  // The transforms of the weight gradient: gradients of 2 by 2 outputs, dy[2 * y + x][lane], become those of the
  // points, and sums over tiles of those become the taps': taps[tap * distance + lane] of u[point * u_distance + lane].
  void (*transform_output_grads)(const float* const dy[4], int64_t count, float* m, int64_t distance);
  void (*transform_weight_grads)(const float* u, int64_t u_distance, int64_t count, float* taps, int64_t distance);
};

}  // namespace thunder
