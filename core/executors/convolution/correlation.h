// Direct convolution by implicit im2col: y[row, pixel] = sum over (channel, tap) of weight[row, channel, tap]
// plane[channel, pixel + tap].
#pragma once

#include <vector>

#include "executors/convolution/panels.h"
#include "executors/convolution/planes.h"
#include "executors/convolution/ops.h"
#include "executors/convolution/window.h"
#include "executors/cpu/slots.h"

namespace thunder {

// Outputs that are on one grid and use the same taps. Pairs are along y, along x.
struct Grid {
  int64_t size[2] = {0, 0};
  int64_t first[2] = {0, 0}, step[2] = {1, 1};  // the positions of its outputs in the result
  std::vector<int64_t> taps;  // indices into the kernel
  std::vector<int64_t> tap_offsets;  // by tap, in the planes of a channel
};

class Correlation : public PreparedOp {
 public:
  // Which of the weight's two channel axes is summed over; the other is that of the result.
  enum Summed : size_t { outputs = 0, inputs = 1 };

  // `planes`: of `band` rows of the grids. `sparse`: some of the result belongs to no grid, and is zero.
  Correlation(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
              std::vector<Grid> grids, Summed summed, bool sparse = false);

  // How many of `rows` rows of outputs are one task, so that the planes of all `channels` stay in the L2 cache and each
  // thread has work.
  static int64_t band(const Window& w, const Planes& planes, int64_t rows, int64_t channels, int64_t threads);

  // The bytes of scratch that a call needs.
  size_t scratch() const;

  Status* run(const Launch* launch) const override;

 private:
  struct Job;
  struct Weights {
    int64_t at, depth;  // where a grid's weights begin, and how many products a sum has
    std::vector<int32_t> offsets;  // of those products' pixels in the planes of an image
    int64_t blocks;  // how many blocks' weights stay in the L2 cache
  };
  int64_t group_weights() const { return weights_.empty() ? 0 : weights_.back().at + rows_ * weights_.back().depth; }
  int64_t image_planes() const { return sums_ * planes_.channel(); }
  int64_t panels(const Grid& g, int64_t images) const;
  int64_t best_images() const;
  Slots slots() const {
    return {w.groups * ceil_div(w.batch, images_) * bands_, threads_, images_ * image_planes() + kOverread};
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const int64_t band_;
  const std::vector<Grid> grids_;
  const Summed summed_;
  const int64_t sums_, rows_;  // channels of a group: summed over, and of the result
  const RowBlocks blocks_;
  const GatheredPanels gathered_;
  const bool sparse_;
  const int64_t threads_;
  std::vector<Weights> weights_;
  int64_t bands_ = 0;  // of an image
  int64_t images_ = 1;  // of a task
};

}  // namespace thunder
