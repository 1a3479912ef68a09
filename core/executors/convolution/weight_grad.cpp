// dw[o, c, tap] = sum over images and pixels of dy[o, pixel] x[c, pixel * stride + tap * dilation - padding]: panels of outputs by
// taps and channels. Of x, channels lie side by side, and the channels of taps beside each other do.
#include <algorithm>
#include <vector>

#include "executors/convolution/panels.h"
#include "executors/convolution/phases.h"
#include "executors/convolution/sites.h"
#include "executors/convolution/winograd.h"
#include "executors/convolution/window.h"

namespace thunder {
namespace {

// So many pixels of a panel's operands stay in the second-level cache while blocks of outputs pass.
constexpr int64_t kPixels = 512, kBlocks = 8;

// What of the image is used, with its padding.
int64_t image_size(const Window& w, int axis) { return (w.out[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1; }

class WeightGrad : public Site {
 public:
  WeightGrad(const Kernels& kernels, const Window& window) : k_(kernels), w(window), blocks_(w.outputs, k_.panel_rows) {
    for (int i = 0; i < 2; i++) size_[i] = image_size(w, i);
    for (int64_t y = 0; y < w.out[0]; y++)
      for (int64_t x = 0; x < w.out[1]; x++) offsets_.push_back(static_cast<int32_t>((y * w.stride[0] * size_[1] + x * w.stride[1]) * w.channels));
    // Taps of one row are one run of columns where they are neighbours.
    const int64_t together = w.dilation[1] == 1 ? w.kernel[1] : 1;
    for (int64_t tap = 0; tap < w.taps(); tap += together)
      for (int64_t at = 0; at < together * w.channels; at += k_.panel_columns) {
        const int64_t y = tap / w.kernel[1] * w.dilation[0], x = tap % w.kernel[1] * w.dilation[1];
        panels_.push_back({(y * size_[1] + x) * w.channels + at, tap * w.channels + at, std::min(k_.panel_columns, together * w.channels - at)});
      }
    images_ = images_at_a_time(w.batch, image_floats() + gradient_floats());
  }

  size_t scratch() const { return static_cast<size_t>(images_ * (image_floats() + gradient_floats()) + kBeyond) * sizeof(float); }

  Status* run(const Launch* launch) const override;

 private:
  // Columns [first, first + count) of those counted by tap and channel, and where they lie in the image.
  struct Panel {
    int64_t at, first, count;
  };
  struct Job;

  int64_t image_floats() const { return w.groups * size_[0] * size_[1] * w.channels; }
  int64_t gradient_floats() const { return w.groups * w.outputs * w.pixels(); }

  const Kernels& k_;
  const Window w;
  const RowBlocks blocks_;
  int64_t size_[2];  // of the image, as image_size has it
  std::vector<int32_t> offsets_;
  std::vector<Panel> panels_;
  int64_t images_ = 1;  // packed at a time
};

// One call.
struct WeightGrad::Job : Phases<Job> {
  const WeightGrad& site;
  float *gradients, *image_data;
  int64_t image = 0, images = 0;  // packed now

  const Window& w() const { return site.w; }
  const Buffer& dy() const { return launch->inputs[0]; }
  const Buffer& x() const { return launch->inputs[1]; }

  // A row of the image, [column, channel].
  void turn_row(int64_t index) const {
    const int64_t rows = site.size_[0], columns = site.size_[1], channels = w().channels;
    const int64_t row = index % rows - w().padding[0], group = index / rows % w().groups, n = image + index / rows / w().groups;
    float* to = image_data + index * columns * channels;
    const int64_t begin = std::clamp<int64_t>(w().padding[1], 0, columns), end = std::clamp<int64_t>(w().image[1] + w().padding[1], begin, columns);
    if (row < 0 || row >= w().image[0]) return std::fill(to, to + columns * channels, 0.0f), void();
    std::fill(to, to + begin * channels, 0.0f);
    std::fill(to + end * channels, to + columns * channels, 0.0f);
    const float* from = x().as<float>() + n * x().strides[0] + group * channels * x().strides[1] + row * x().strides[2] - w().padding[1] * x().strides[3];
    for (int64_t c = 0; c < channels; c++, from += x().strides[1])
      for (int64_t column = begin; column < end; column++) to[column * channels + c] = from[column * x().strides[3]];
  }

  // A block's rows of dy, [pixel, row].
  void turn_block(int64_t index) const {
    const int64_t blocks = site.blocks_.count(), block = index % blocks, group = index / blocks % w().groups, n = index / blocks / w().groups;
    const int64_t first = group * w().outputs + site.blocks_.first(block), rows = site.blocks_.rows(block);
    float* to = gradients + n * site.gradient_floats() + first * w().pixels();
    for (int64_t i = 0; i < rows; i++) {
      const float* from = dy().as<float>() + (image + n) * dy().strides[0] + (first + i) * dy().strides[1];
      float* at = to + i;
      for (int64_t y = 0; y < w().out[0]; y++)
        for (int64_t column = 0; column < w().out[1]; column++, at += rows) *at = from[y * dy().strides[2] + column * dy().strides[3]];
    }
  }

  int64_t chunks() const { return parts(site.blocks_.count(), kBlocks); }
  int64_t tasks() const { return static_cast<int64_t>(site.panels_.size()) * chunks() * w().groups; }

  void sum(int64_t index) const {
    const int64_t chunk = index % chunks() * kBlocks, end = std::min(chunk + kBlocks, site.blocks_.count()), group = index / chunks() % w().groups;
    const Panel& panel = site.panels_[static_cast<size_t>(index / chunks() / w().groups)];
    alignas(64) float sums[kBlocks][Kernels::kMostPanel];
    for (int64_t n = 0; n < images; n++) {
      const float* b = image_data + (n * w().groups + group) * site.size_[0] * site.size_[1] * w().channels + panel.at;
      for (int64_t pixel = 0; pixel < w().pixels(); pixel += kPixels)
        for (int64_t block = chunk; block < end; block++) {
          const int64_t rows = site.blocks_.rows(block), first = group * w().outputs + site.blocks_.first(block);
          const float* a = gradients + n * site.gradient_floats() + first * w().pixels() + pixel * rows;
          const int64_t depth = std::min(kPixels, w().pixels() - pixel);
          site.k_.panel(rows, depth, a, b, site.offsets_.data() + pixel, sums[block - chunk], n > 0 || pixel > 0);
        }
    }
    for (int64_t block = chunk; block < end; block++)
      for (int64_t i = 0; i < site.blocks_.rows(block); i++)
        write(panel, group * w().outputs + site.blocks_.first(block) + i, sums[block - chunk] + i * site.k_.panel_columns);
  }

  void write(const Panel& panel, int64_t output, const float* sums) const {
    const Buffer& dw = launch->outputs[0];
    float* to = dw.as<float>() + output * dw.strides[0];
    for (int64_t j = 0; j < panel.count; j++) {
      const int64_t tap = (panel.first + j) / w().channels, c = (panel.first + j) % w().channels;
      float& at = to[c * dw.strides[1] + tap / w().kernel[1] * dw.strides[2] + tap % w().kernel[1] * dw.strides[3]];
      at = image > 0 ? at + sums[j] : sums[j];
    }
  }

  void clear() const {
    const Buffer& dw = launch->outputs[0];
    std::fill_n(dw.as<float>(), w().groups * w().outputs * w().channels * w().taps(), 0.0f);
  }
};

Status* WeightGrad::run(const Launch* launch) const {
  auto* gradients = static_cast<float*>(launch->scratch);
  Job job{{launch}, *this, gradients, gradients + images_ * gradient_floats()};
  if (w.batch == 0) job.clear();
  for (; job.image < w.batch; job.image += images_) {
    job.images = std::min(images_, w.batch - job.image);
    if (Status* failed = job.each<&Job::turn_row>(job.images * w.groups * size_[0], size_[1] * w.channels)) return failed;
    if (Status* failed = job.each<&Job::turn_block>(job.images * w.groups * blocks_.count(), w.pixels() * blocks_.most())) return failed;
    if (Status* failed = job.each<&Job::sum>(job.tasks(), w.pixels() * k_.panel_columns)) return failed;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Site> convolution_weight_grad(const ConvolutionCode& code, const NodeView& v, size_t* scratch) {
  const Window w(shape_in(v, 1), shape_out(v), shape_in(v, 0), v.node, 3);
  if (Winograd::pays(w)) return winograd_weight_grad(code, w, scratch);
  if (w.groups * w.channels * image_size(w, 0) * image_size(w, 1) > kMostOffset) return nullptr;
  auto site = std::make_unique<WeightGrad>(code.kernels, w);
  *scratch = site->scratch();
  return site;
}

}  // namespace thunder
