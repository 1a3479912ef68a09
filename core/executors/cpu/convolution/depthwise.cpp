// Convolutions whose groups are one channel each. A channel's planes are one line of memory, along which the taps
// slide: the columns of a plane that no output has are computed too, and left out.
#include "executors/cpu/convolution/depthwise.h"

#include <algorithm>

#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/parallel.h"
#include "executors/cpu/tiling.h"

namespace thunder {
namespace {

// The pixels of `rows` rows of outputs in a plane, from the first to the last.
int64_t span_of(const Planes& planes, int64_t rows, int64_t columns) {
  return rows > 0 && columns > 0 ? (rows - 1) * planes.pitch + columns : 0;
}

// The taps of a channel, in the order of `taps`.
void copy_taps(const Buffer& weight, int64_t channel, int64_t width, const std::vector<int64_t>& taps, float* to) {
  const float* from = weight.as<float>() + channel * weight.strides[0];
  for (int64_t tap : taps) *to++ = from[tap / width * weight.strides[2] + tap % width * weight.strides[3]];
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
    int64_t line = 0;
    for (const Grid& g : grids_) {
      offsets_.emplace_back(g.tap_offsets.begin(), g.tap_offsets.end());
      bands_ = std::max(bands_, ceil_div(g.size[0], band_));
      line = std::max(line, span_of(planes_, std::min(g.size[0], band_), g.size[1]));
    }
    slots_ = Slots(w.batch * w.groups * bands_, static_cast<int64_t>(code.machine.threads),
                   planes_.channel() + kOverread + line + kOverread + w.taps());
  }

  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    if (sparse_) {
      const Buffer& y = launch->outputs[0];
      std::fill_n(y.as<float>(), w.batch * w.groups * y.shape[2] * y.shape[3], 0.0f);
    }
    return slots_.run(launch, [&](int64_t index, float* scratch) { task(*launch, index, scratch); });
  }

 private:
  // A band of a channel of an image.
  void task(const Launch& launch, int64_t index, float* planes) const {
    const Buffer &x = launch.inputs[0], &y = launch.outputs[0];
    const int64_t row = index % bands_ * band_, channel = index / bands_ % w.groups, n = index / bands_ / w.groups;
    const int64_t steps[] = {x.strides[2], x.strides[3]};
    planes_.fill(t_, x.as<float>() + n * x.strides[0] + channel * x.strides[1], steps, row, planes);
    float *end = planes + planes_.channel(), *taps = end + kOverread, *line = taps + w.taps();
    std::fill_n(end, kOverread, 0.0f);  // the zeros to the right of the last row
    for (size_t i = 0; i < grids_.size(); i++) {
      const Grid& g = grids_[i];
      const int64_t rows = std::clamp<int64_t>(g.size[0] - row, 0, band_);
      copy_taps(launch.inputs[1], channel, w.kernel[1], g.taps, taps);
      k_.slide(taps, std::ssize(g.taps), planes, offsets_[i].data(), span_of(planes_, rows, g.size[1]), line);
      write(g, row, rows, line, y, y.as<float>() + n * y.strides[0] + channel * y.strides[1]);
    }
  }

  void write(const Grid& g, int64_t first, int64_t rows, const float* line, const Buffer& y, float* to) const {
    const int64_t step = g.step[1] * y.strides[3];
    to += (g.first[0] + first * g.step[0]) * y.strides[2] + g.first[1] * y.strides[3];
    for (int64_t row = 0; row < rows; row++, line += planes_.pitch, to += g.step[0] * y.strides[2])
      if (step == 1)
        std::copy_n(line, g.size[1], to);
      else
        for (int64_t i = 0; i < g.size[1]; i++) to[i * step] = line[i];
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const int64_t band_;
  const std::vector<Grid> grids_;
  const bool sparse_;
  std::vector<std::vector<int32_t>> offsets_;  // by grid
  int64_t bands_ = 0;                          // of an image
  Slots slots_;
};

// dw[tap] = sum over images and pixels of dy[pixel] x[pixel * stride + tap * dilation - padding]. dy is copied with the
// distances of the planes' rows, and zeros between them.
class DepthwiseWeightGrad : public Kernel {
 public:
  DepthwiseWeightGrad(const ConvolutionCode& code, const Window& window, const Planes& planes, const Grid& grid)
      : Kernel(this),
        k_(code.kernels),
        t_(code.transforms),
        w(window),
        planes_(planes),
        offsets_(grid.tap_offsets.begin(), grid.tap_offsets.end()),
        slots_(w.groups, static_cast<int64_t>(code.machine.threads),
               planes_.channel() + kOverread + span() + kOverread + w.taps()) {}

  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    return slots_.run(launch, [&](int64_t channel, float* scratch) { task(*launch, channel, scratch); });
  }

 private:
  int64_t span() const { return span_of(planes_, w.out[0], w.out[1]); }

  void task(const Launch& launch, int64_t channel, float* planes) const {
    const Buffer &dy = launch.inputs[0], &x = launch.inputs[1], &dw = launch.outputs[0];
    const int64_t steps[] = {x.strides[2], x.strides[3]};
    float *end = planes + planes_.channel(), *line = end + kOverread, *sums = line + span() + kOverread;
    std::fill_n(end, kOverread, 0.0f);
    std::fill_n(line, span() + kOverread, 0.0f);
    std::fill_n(sums, w.taps(), 0.0f);
    for (int64_t n = 0; n < w.batch; n++) {
      planes_.fill(t_, x.as<float>() + n * x.strides[0] + channel * x.strides[1], steps, 0, planes);
      const float* from = dy.as<float>() + n * dy.strides[0] + channel * dy.strides[1];
      for (int64_t row = 0; row < w.out[0]; row++, from += dy.strides[2])
        for (int64_t i = 0; i < w.out[1]; i++) line[row * planes_.pitch + i] = from[i * dy.strides[3]];
      k_.slide_sums(line, span(), planes, offsets_.data(), w.taps(), sums);
    }
    float* to = dw.as<float>() + channel * dw.strides[0];
    for (int64_t tap = 0; tap < w.taps(); tap++)
      to[tap / w.kernel[1] * dw.strides[2] + tap % w.kernel[1] * dw.strides[3]] = sums[tap];
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const std::vector<int32_t> offsets_;
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
