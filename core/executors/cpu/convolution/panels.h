// How a convolution is divided for the panel kernel (`ProductKernels::panel`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/machine.h"
#include "executors/cpu/product_kernels.h"
#include "executors/cpu/tiling.h"

namespace thunder {

// How many floats the kernel may read past the last element.
constexpr int64_t kOverread = 64;

// The rows of a result in blocks of at most a panel, of nearly equal size.
class RowBlocks {
 public:
  // `most`: the rows of a panel.
  RowBlocks(int64_t rows, int64_t most)
      : rows_(rows), each_(std::max<int64_t>(1, ceil_div(rows, std::max<int64_t>(1, ceil_div(rows, most))))) {}

  int64_t count() const { return ceil_div(rows_, each_); }
  int64_t max_rows() const { return each_; }
  // Requires: a block below count.
  int64_t first(int64_t block) const { return block * each_; }
  int64_t rows(int64_t block) const { return std::min(each_, rows_ - first(block)); }

 private:
  int64_t rows_, each_;
};

// Calls f(image, row, column, how many, from first) for the pixels [first, end) of images of `rows` by `columns`,
// counted along rows and images, as runs of adjacent pixels.
template <class F>
void for_each_run(int64_t rows, int64_t columns, int64_t first, int64_t end, const F& f) {
  for (int64_t at = first, run; at < end; at += run) {
    run = std::min(end - at, columns - at % columns);
    f(at / columns / rows, at / columns % rows, at % columns, run, at - first);
  }
}

// The gather of implicit im2col: as much of a panel at a time as stays in the L1 cache, before blocks of rows are
// multiplied by it.
class GatheredPanels {
 public:
  explicit GatheredPanels(const ProductKernels& kernels) : k_(kernels) {
    for (int64_t l = 0; l < kDepth; l++) rows_.push_back(static_cast<int32_t>(l * k_.panel_columns));
  }

  // Calls sum(part, first, depth) for the parts of the panel of `runs` at each of `offsets`; once even if there is
  // nothing to sum.
  template <class F>
  void for_each_part(std::span<const Run> runs, std::span<const int32_t> offsets, const F& sum) const {
    alignas(64) float part[kDepth * ProductKernels::kMaxColumns + ProductKernels::kMaxLanes];
    const auto whole = static_cast<int64_t>(offsets.size());
    // The columns after the last run are computed but not used; they are zeroed, since leftovers might be slow
    // subnormals.
    if (runs.back().at + runs.back().count < k_.panel_columns) std::fill(std::begin(part), std::end(part), 0.0f);
    int64_t first = 0;
    do {
      const int64_t depth = std::min(kDepth, whole - first);
      k_.gather(runs.data(), static_cast<int64_t>(runs.size()), offsets.data() + first, depth, part);
      sum(part, first, depth);
      first += kDepth;
    } while (first < whole);
  }

  // ProductKernels::panel for one part.
  void add(int64_t rows, int64_t depth, const float* a, const float* part, float* c, bool add) const {
    k_.panel(rows, depth, a, part, rows_.data(), c, add);
  }

 private:
  static constexpr int64_t kDepth = 256;

  const ProductKernels& k_;
  std::vector<int32_t> rows_;  // of a part
};

// How many floats a task copies for itself: they fill the L2 cache of its processor.
inline int64_t max_task_floats(const Machine& machine) {
  constexpr size_t kUsual = size_t{1} << 20;  // bytes, where the system does not say
  return static_cast<int64_t>((machine.l2 ? machine.l2 : kUsual) / sizeof(float));
}
// How many floats are packed at a time for all threads: a quarter of the last-level cache.
inline int64_t max_packed_floats(const Machine& machine) {
  constexpr size_t kUsual = size_t{32} << 20;
  return static_cast<int64_t>((machine.last_level ? machine.last_level : kUsual) / 4 / sizeof(float));
}

// The number of images packed at a time: as many as fit into `most` floats, at least one.
inline int64_t images_at_a_time(int64_t batch, int64_t floats, int64_t most) {
  return std::clamp<int64_t>(most / std::max<int64_t>(1, floats), 1, std::max<int64_t>(1, batch));
}

}  // namespace thunder
