// How a call is cut for the kernel of panels (`ProductKernels::panel`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "executors/cpu/product_kernels.h"
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

// The pixels [first, end) of images of `rows` by `columns`, counted along rows and images, as runs that lie side by side:
// f(image, row, column, how many, from first).
template <class F>
void each_run(int64_t rows, int64_t columns, int64_t first, int64_t end, const F& f) {
  for (int64_t at = first, run; at < end; at += run) {
    run = std::min(end - at, columns - at % columns);
    f(at / columns / rows, at / columns % rows, at % columns, run, at - first);
  }
}

// What lies here and there is gathered before blocks of rows pass over it: so much of a panel at a time as the first-level cache keeps.
class GatheredPanels {
 public:
  explicit GatheredPanels(const ProductKernels& kernels) : k_(kernels) {
    for (int64_t l = 0; l < kDepth; l++) rows_.push_back(static_cast<int32_t>(l * k_.panel_columns));
  }

  // sum(part, first, depth) for the parts of the panel of `runs` at each of `offsets`; once even where there is nothing to sum.
  template <class F>
  void each_part(std::span<const Run> runs, std::span<const int32_t> offsets, const F& sum) const {
    alignas(64) float part[kDepth * ProductKernels::kMostColumns + ProductKernels::kMostLanes];
    const auto whole = static_cast<int64_t>(offsets.size());
    // The columns after the last run are summed for nothing, but of what was here that might be slow.
    if (runs.back().at + runs.back().count < k_.panel_columns) std::fill(std::begin(part), std::end(part), 0.0f);
    int64_t first = 0;
    do {
      const int64_t depth = std::min(kDepth, whole - first);
      k_.gather(runs.data(), static_cast<int64_t>(runs.size()), offsets.data() + first, depth, part);
      sum(part, first, depth);
      first += kDepth;
    } while (first < whole);
  }

  // As ProductKernels::panel, of a part.
  void add(int64_t rows, int64_t depth, const float* a, const float* part, float* c, bool add) const { k_.panel(rows, depth, a, part, rows_.data(), c, add); }

 private:
  static constexpr int64_t kDepth = 256;

  const ProductKernels& k_;
  std::vector<int32_t> rows_;  // of a part
};

// Floats that a second-level cache holds, and a third-level one, or so.
constexpr int64_t kSecondLevel = 1 << 19, kThirdLevel = 1 << 21;
// What a task copies for itself, which stays there beside what it is multiplied by.
constexpr int64_t kTaskFloats = 1 << 18;

// How many of `batch` images are packed at a time, of which each takes so many floats, to be of `most` floats or one.
inline int64_t images_at_a_time(int64_t batch, int64_t floats, int64_t most = kThirdLevel) {
  return std::clamp<int64_t>(most / std::max<int64_t>(1, floats), 1, std::max<int64_t>(1, batch));
}

}  // namespace thunder
