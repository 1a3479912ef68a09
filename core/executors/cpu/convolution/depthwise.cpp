// Convolutions whose groups are one channel each: each row of outputs is a sum of rows of a channel's planes.
#include "executors/cpu/convolution/depthwise.h"

#include <algorithm>
#include <numeric>

#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/parallel.h"
#include "executors/cpu/tiling.h"

namespace thunder {
namespace {

// The taps of a grid in the order in which they are summed up, as runs down the planes.
struct Sum {
  std::vector<int64_t> taps;
  std::vector<Slide::Run> runs;
};
Sum plan_sum(const Grid& g, int64_t pitch) {
  Sum sum;
  std::vector<size_t> left(g.taps.size());
  std::iota(left.begin(), left.end(), size_t{0});
  std::ranges::stable_sort(left, {}, [&](size_t i) { return g.tap_offsets[i]; });
  while (!left.empty()) {
    std::vector<size_t> down;  // each a row below the one before
    for (int64_t offset = g.tap_offsets[left[0]];; offset += pitch) {
      const auto found = std::find_if(left.begin(), left.end(), [&](size_t i) { return g.tap_offsets[i] == offset; });
      if (found == left.end()) break;
      down.push_back(*found);
      left.erase(found);
    }
    for (int64_t at = 0, n = std::ssize(down), parts = ceil_div(n, Slide::kTallest); at < n; parts--) {
      const int64_t height = ceil_div(n - at, parts);
      sum.runs.push_back({static_cast<int32_t>(g.tap_offsets[down[static_cast<size_t>(at)]]),
                          static_cast<int32_t>(height)});
      at += height;
    }
    for (size_t i : down) sum.taps.push_back(g.taps[i]);
  }
  return sum;
}

class Depthwise : public Kernel {
 public:
  Depthwise(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
            std::vector<Grid> grids, bool sparse)
      : Kernel(this),
        k_(code.kernels),
        t_(code.transforms),
        w(window),
        planes_(planes),
        band_(band),
        grids_(std::move(grids)),
        sparse_(sparse) {
    int64_t outputs = 0;
    for (const Grid& g : grids_) {
      sums_.push_back(plan_sum(g, planes_.pitch));
      bands_ = std::max(bands_, ceil_div(g.size[0], band_));
      outputs = std::max(outputs, std::min(g.size[0], band_) * g.size[1]);
    }
    const auto threads = static_cast<int64_t>(code.machine.threads);
    const int64_t tasks = std::max<int64_t>(1, bands_ * w.groups);
    images_ = std::max<int64_t>(1, w.batch / std::max<int64_t>(1, ceil_div(kTasks * threads, tasks)));
    slots_ = Slots(count_tasks_of_band() * bands_, threads, planes_.channel_floats() + kOverread + outputs + w.taps());
  }

  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    if (sparse_) {
      const Buffer& y = launch->outputs[0];
      std::fill_n(y.as<float>(), w.batch * w.groups * y.shape[2] * y.shape[3], 0.0f);
    }
    return slots_.run_shares(launch, [&](int64_t begin, int64_t end, float* planes) {
      float *after = planes + planes_.channel_floats(), *taps = after + kOverread;
      std::fill(after, taps, 0.0f);  // the zeros to the right of the last row
      for (int64_t index = begin, zeros = -1; index < end; index++) task(*launch, index, planes, taps, zeros);
    });
  }

 private:
  static constexpr int64_t kTasks = 4;  // of a thread, at least

  int64_t chunks() const { return ceil_div(w.batch, images_); }
  int64_t count_tasks_of_band() const { return w.groups * chunks(); }

  // A band of a channel of some images. `zeros`: the first row of the band that the planes had before.
  void task(const Launch& launch, int64_t index, float* planes, float* taps, int64_t& zeros) const {
    const Buffer &x = launch.inputs[0], &y = launch.outputs[0];
    const int64_t row = index / count_tasks_of_band() * band_, channel = index % count_tasks_of_band() / chunks(),
                  first = index % chunks() * images_, steps[] = {x.strides[2], x.strides[3]};
    copy_taps(launch.inputs[1], channel, taps);
    for (int64_t n = first; n < std::min(first + images_, w.batch); n++) {
      planes_.copy_image(t_, x.as<float>() + n * x.strides[0] + channel * x.strides[1], steps, row, planes,
                         zeros != row);
      zeros = row;
      const float* a = taps;
      for (size_t i = 0; i < grids_.size(); a += sums_[i++].taps.size())
        compute_grid(i, a, planes, row, taps + w.taps(), y, y.as<float>() + n * y.strides[0] + channel * y.strides[1]);
    }
  }

  // The taps of all grids.
  void copy_taps(const Buffer& weight, int64_t channel, float* to) const {
    const float* from = weight.as<float>() + channel * weight.strides[0];
    for (const Sum& sum : sums_)
      for (int64_t tap : sum.taps)
        *to++ = from[tap / w.kernel[1] * weight.strides[2] + tap % w.kernel[1] * weight.strides[3]];
  }

  void compute_grid(size_t grid, const float* taps, const float* planes, int64_t first, float* made, const Buffer& y,
                    float* to) const {
    const Grid& g = grids_[grid];
    const std::vector<Slide::Run>& runs = sums_[grid].runs;
    const int64_t step = g.step[1] * y.strides[3], down = g.step[0] * y.strides[2],
                  rows = std::clamp<int64_t>(g.size[0] - first, 0, band_), columns = g.size[1];
    to += (g.first[0] + first * g.step[0]) * y.strides[2] + g.first[1] * y.strides[3];
    Slide slide{taps, runs.data(), std::ssize(runs), planes, planes_.pitch, rows, columns, to, down};
    if (step != 1) slide.to = made, slide.to_row = columns;
    k_.slide(slide);
    for (int64_t row = 0; row < rows && step != 1; row++, made += columns, to += down)
      for (int64_t i = 0; i < columns; i++) to[i * step] = made[i];
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const int64_t band_;
  const std::vector<Grid> grids_;
  const bool sparse_;
  std::vector<Sum> sums_;  // by grid
  int64_t bands_ = 0;      // of an image
  int64_t images_ = 1;     // of a task
  Slots slots_;
};

// dw[tap] = sum over images and pixels of dy[pixel] x[pixel * stride + tap * dilation - padding]. dy is copied with
// zeros behind each row.
class DepthwiseWeightGrad : public Kernel {
 public:
  DepthwiseWeightGrad(const ConvolutionCode& code, const Window& window, const Planes& planes, const Grid& grid)
      : Kernel(this),
        k_(code.kernels),
        t_(code.transforms),
        w(window),
        planes_(planes),
        sum_(plan_sum(grid, planes.pitch)),
        row_(round_up(w.out[1], kLanes)),
        slots_(w.groups, static_cast<int64_t>(code.machine.threads),
               planes_.channel_floats() + kOverread + w.out[0] * row_ + w.taps() * (kLanes + 1)) {}

  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    return slots_.run_shares(launch, [&](int64_t begin, int64_t end, float* planes) {
      float* const after = planes + planes_.channel_floats();
      std::fill_n(after, kOverread + w.out[0] * row_, 0.0f);
      for (int64_t channel = begin; channel < end; channel++)
        task(*launch, channel, channel == begin, planes, after + kOverread);
    });
  }

 private:
  static constexpr int64_t kLanes = ProductKernels::kMaxLanes;

  // `zeros`: whether those around the image have to be written.
  void task(const Launch& launch, int64_t channel, bool zeros, float* planes, float* gradient) const {
    const Buffer &dy = launch.inputs[0], &x = launch.inputs[1], &dw = launch.outputs[0];
    const int64_t steps[] = {x.strides[2], x.strides[3]};
    float *sums = gradient + w.out[0] * row_, *taps = sums + w.taps() * kLanes;
    std::fill_n(sums, w.taps() * kLanes, 0.0f);
    const Slide slide{nullptr,  sum_.runs.data(), std::ssize(sum_.runs), planes, planes_.pitch,
                      w.out[0], w.out[1],         gradient,              row_};
    for (int64_t n = 0; n < w.batch; n++) {
      planes_.copy_image(t_, x.as<float>() + n * x.strides[0] + channel * x.strides[1], steps, 0, planes,
                         zeros && n == 0);
      const float* from = dy.as<float>() + n * dy.strides[0] + channel * dy.strides[1];
      for (int64_t row = 0; row < w.out[0]; row++, from += dy.strides[2])
        copy_row(from, dy.strides[3], w.out[1], gradient + row * row_);
      k_.slide_products(slide, sums);
    }
    k_.sum_lanes(sums, w.taps(), taps);
    float* to = dw.as<float>() + channel * dw.strides[0];
    for (int64_t tap : sum_.taps) to[tap / w.kernel[1] * dw.strides[2] + tap % w.kernel[1] * dw.strides[3]] = *taps++;
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const Sum sum_;
  const int64_t row_;  // of dy's copy
  Slots slots_;
};

}  // namespace

KernelPtr prepare_depthwise(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
                            std::vector<Grid> grids, bool sparse) {
  return std::make_unique<Depthwise>(code, window, planes, band, std::move(grids), sparse);
}

KernelPtr prepare_depthwise_weight_grad(const ConvolutionCode& code, const Window& window, const Planes& planes,
                                        const Grid& grid) {
  return std::make_unique<DepthwiseWeightGrad>(code, window, planes, grid);
}

}  // namespace thunder
