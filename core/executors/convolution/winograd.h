// Winograd convolution: correlations with 3 by 3 taps and stride 1 as matrix products, one for each point of a 4 by 4
// tile. 16 multiply-adds make 4 outputs, where direct convolution takes 36. `winograd_kernels.h` has the transforms.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "executors/convolution/panels.h"
#include "executors/convolution/planes.h"
#include "executors/convolution/ops.h"
#include "executors/convolution/window.h"
#include "executors/cpu/slots.h"

namespace thunder {

class Winograd : public PreparedOp {
 public:
  // Whether it is applicable, and channels and tiles are enough to amortize the transforms.
  static bool is_profitable(const Window& w);

  // Both require `is_profitable`. `scratch`: the bytes that each call needs.
  static PreparedOpPtr prepare_forward(const ConvolutionCode& code, const Window& w, size_t* scratch);
  static PreparedOpPtr prepare_input_grad(const ConvolutionCode& code, const Window& w, size_t* scratch);

  // The bytes of scratch that a call needs.
  size_t scratch() const;
  Status* run(const Launch* launch) const override;

 private:
  // `summed`: which of the weight's two channel axes is summed over, 0 or 1; `reversed`: whether the taps are applied
  // in reverse order. Pairs are along y, along x.
  struct Shapes {
    int64_t batch, groups, sums, rows;
    std::array<int64_t, 2> image, out, padding;
    size_t summed;
    bool reversed;
  };
  Winograd(const ConvolutionCode& code, const Shapes& shapes);
  struct Job;

  int64_t weights() const { return WinogradKernels::kPoints * s_.groups * s_.rows * s_.sums; }
  int64_t point() const { return s_.sums * tiles_ + WinogradKernels::kMaxLanes; }  // floats of a point's tiles
  int64_t chunks() const { return ceil_div(s_.batch * grid_[0] * grid_[1], tiles_); }
  Slots slots() const {
    return {s_.groups * chunks(), threads_, WinogradKernels::kPoints * point() + planes_.channel() + kOverread};
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Shapes s_;
  const int64_t threads_;
  const RowBlocks blocks_;
  Planes planes_;  // of a task
  int64_t grid_[2];  // tiles of an image
  int64_t tiles_;  // of a task
  std::vector<int32_t> offsets_;  // of a channel's tiles
};

// The gradient of the weight in the same way. Requires: `Winograd::is_profitable`.
PreparedOpPtr prepare_winograd_weight_grad(const ConvolutionCode& code, const Window& w, size_t* scratch);

}  // namespace thunder
