// What tiled attention does with a panel between products of matrices: softmax as keys come, and its score_grads.
//
// Like ../cpu/product_kernels.h, this is also compiled with instructions that not every machine has.
#pragma once

#include "executors/cpu/product_kernels.h"

namespace thunder {

// A block of keys against a panel of as many queries as two vectors have lanes: rows are keys, lanes are queries.
struct Panel {
  float* scores = nullptr;
  int64_t row = 0;   // from one key's scores to the next one's
  int64_t keys = 0;
  const float* mask = nullptr;  // is added: keys rows of two dense vectors; or null
  int64_t hidden = 0;  // lane l sees the keys before hidden + l only
};

struct SoftmaxKernels {
  int64_t width;  // queries of a panel

  // to[column * width + r] = from[r, column] * factor for r < rows, and 0 for the lanes after them.
  void (*copy_transposed)(const Matrix& from, int64_t rows, int64_t columns, float factor, float* to);
  // Scores become e^(score - running_max), with the largest score so far of each lane as its running_max; `total` follows, and what was
  // summed with these weights before is to be multiplied by `factor`. Before the first block: running_max -inf, total 0. A lane
  // without any score keeps running_max -inf.
  void (*online_softmax)(const Panel& panel, float* running_max, float* total, float* factor);
  // The same of one query whose `keys` scores lie side by side.
  void (*online_softmax_row)(float* scores, int64_t keys, float* running_max, float* total, float* factor);
  // c[r, column] *= factors[r].
  void (*scale_rows)(float* c, int64_t row, int64_t rows, int64_t columns, const float* factors);
  // Scores become probabilities e^(score - running_max) * weight; `score_grads`, that lie like them, go from d(probability) to
  // d(score): probability * (score_grad - mean) * scale.
  void (*softmax_backward)(const Panel& panel, float* score_grads, const float* running_max, const float* weight, const float* mean, float scale);
};

}  // namespace thunder
