// What tiled attention does with a panel between products of matrices: softmax as keys come, and its slopes.
//
// Like ../cpu/kernel.h, this is also compiled with instructions that not every machine has.
#pragma once

#include "executors/cpu/kernel.h"

namespace thunder {

// A block of keys against a panel of as many queries as two vectors have lanes: rows are keys, lanes are queries.
struct Panel {
  float* scores = nullptr;
  int64_t row = 0;   // from one key's scores to the next one's
  int64_t keys = 0;
  const float* mask = nullptr;  // is added: keys rows of two dense vectors; or null
  int64_t hidden = 0;  // lane l sees the keys before hidden + l only
};

struct Steps {
  int64_t width;  // queries of a panel

  // to[column * width + r] = from[r, column] * factor for r < rows, and 0 for the lanes after them.
  void (*turn)(const Matrix& from, int64_t rows, int64_t columns, float factor, float* to);
  // Scores become e^(score - top), with the largest score so far of each lane as its top; `total` follows, and what was
  // summed with these weights before is to be multiplied by `factor`. Before the first block: top -inf, total 0. A lane
  // without any score keeps top -inf.
  void (*weigh)(const Panel& panel, float* top, float* total, float* factor);
  // The same of one query whose `keys` scores lie side by side.
  void (*weigh_row)(float* scores, int64_t keys, float* top, float* total, float* factor);
  // c[r, column] *= factors[r].
  void (*scale_rows)(float* c, int64_t row, int64_t rows, int64_t columns, const float* factors);
  // Scores become probabilities e^(score - top) * weight; `slopes`, that lie like them, go from d(probability) to
  // d(score): probability * (slope - mean) * scale.
  void (*differentiate)(const Panel& panel, float* slopes, const float* top, const float* weight, const float* mean, float scale);
};

}  // namespace thunder
