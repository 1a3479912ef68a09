// How a call is cut for the kernel of panels (`Kernels::panel`).
#pragma once

#include <algorithm>
#include <cstdint>

#include "executors/cpu/tiling.h"

namespace thunder {

// What the kernel reads past the last element, in floats.
constexpr int64_t kBeyond = 64;

// The rows of a result in blocks, each of a panel, nearly the same for all.
class RowBlocks {
 public:
  // `most`: what a panel takes.
  RowBlocks(int64_t rows, int64_t most) : rows_(rows), each_(std::max<int64_t>(1, parts(rows, std::max<int64_t>(1, parts(rows, most))))) {}

  int64_t count() const { return parts(rows_, each_); }
  int64_t most() const { return each_; }
  // Requires: a block below count.
  int64_t first(int64_t block) const { return block * each_; }
  int64_t rows(int64_t block) const { return std::min(each_, rows_ - first(block)); }

 private:
  int64_t rows_, each_;
};

// Floats that a second-level cache holds, and a third-level one, or so.
constexpr int64_t kSecondLevel = 1 << 19, kThirdLevel = 1 << 21;

// How many of `batch` images are packed at a time, of which each takes so many floats, to be of `most` floats or one.
inline int64_t images_at_a_time(int64_t batch, int64_t floats, int64_t most = kThirdLevel) {
  return std::clamp<int64_t>(most / std::max<int64_t>(1, floats), 1, std::max<int64_t>(1, batch));
}

}  // namespace thunder
