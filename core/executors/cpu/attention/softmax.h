// Online softmax and its gradient: the steps of tiled attention between its matrix products.
//
// Like ../product_kernels.h, this header is also compiled with instructions that not every machine has.
#pragma once

#include "executors/cpu/product_kernels.h"

namespace thunder {

// A block of keys against a panel of queries, two vectors wide: rows are keys, lanes are queries.
struct Panel {
  float* scores = nullptr;
  int64_t row = 0;  // stride from one key's scores to the next one's
  int64_t keys = 0;
  const float* mask = nullptr;  // is added to the scores: two dense vectors for each key; null: no mask
  int64_t causal_end = 0;  // causal masking: lane l attends to keys before causal_end + l only
};

struct SoftmaxKernels {
  int64_t width;  // queries of a panel

  // to[column * width + r] = from[r, column] * factor for r < rows, and 0 for the lanes after them.
  void (*copy_transposed)(const Matrix& from, int64_t rows, int64_t columns, float factor, float* to);
  // One block of online softmax (Milakov, Gimelshein 2018). Scores become e^(score - running_max), where running_max is
  // updated to each lane's largest score so far; `total` is updated to the sum of exponentials, and what was summed
  // with earlier weights is to be multiplied by `factor`. Before the first block running_max is -inf and total is 0. A
  // lane without any score keeps running_max -inf.
  void (*online_softmax)(const Panel& panel, float* running_max, float* total, float* factor);
  // The same for one query whose `keys` scores are consecutive.
  void (*online_softmax_row)(float* scores, int64_t keys, float* running_max, float* total, float* factor);
  // c[r, column] *= factors[r].
  void (*scale_rows)(float* c, int64_t row, int64_t rows, int64_t columns, const float* factors);
  // Scores become probabilities e^(score - running_max) * inverse_total; `score_grads`, of the same layout, go from
  // d(probability) to d(score): probability * (score_grad - delta) * scale.
  void (*softmax_backward)(const Panel& panel, float* score_grads, const float* running_max, const float* inverse_total,
                           const float* delta, float scale);
};

}  // namespace thunder
