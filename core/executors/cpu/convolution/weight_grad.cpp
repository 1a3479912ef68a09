// dw[o, c, tap] = sum over images and pixels of dy[o, pixel] x[c, pixel * stride + tap * dilation - padding]: a matrix
// product of outputs by (tap, channel). x is copied with channels innermost, so that the channels of adjacent taps are
// adjacent.
#include <algorithm>
#include <vector>

#include "executors/cpu/convolution/depthwise.h"
#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/convolution/ops.h"
#include "executors/cpu/parallel.h"
#include "executors/cpu/convolution/planes.h"
#include "executors/cpu/convolution/window.h"

namespace thunder {
namespace {

// How many blocks of outputs a task sums.
constexpr int64_t kBlocks = 16, kLanes = WinogradKernels::kMaxLanes;

// The size of the used part of an image, with its padding.
int64_t used_image_size(const Window& w, int axis) {
  return (w.out[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1;
}

class WeightGrad : public Kernel {
 public:
  WeightGrad(const ConvolutionCode& code, const Window& window)
      : Kernel(this), k_(code.kernels), t_(code.transforms), w(window),
        blocks_(w.outputs, k_.panel_rows), gathered_(k_) {
    for (int i = 0; i < 2; i++) size_[i] = used_image_size(w, i);
    for (int64_t y = 0; y < w.out[0]; y++)
      for (int64_t x = 0; x < w.out[1]; x++)
        offsets_.push_back(static_cast<int32_t>((y * w.stride[0] * size_[1] + x * w.stride[1]) * w.channels));
    images_ = images_at_a_time(w.batch, image_floats() + gradient_floats(), max_packed_floats(code.machine));
  }

  size_t scratch() const override {
    return static_cast<size_t>(images_ * (image_floats() + gradient_floats()) + kOverread + sum_floats()) *
           sizeof(float);
  }

  Status* run(const Launch* launch) const;

 private:
  struct Job;

  int64_t image_floats() const { return w.groups * size_[0] * size_[1] * w.channels; }
  int64_t gradient_floats() const { return w.groups * (w.outputs * w.pixels() + blocks_.count() * kLanes); }
  // Columns are numbered by tap and channel.
  int64_t count_columns() const { return w.taps() * w.channels; }
  int64_t count_panels() const { return ceil_div(count_columns(), k_.panel_columns); }
  // Indices in a group: [panel, block].
  int64_t group_sum_floats() const { return count_panels() * blocks_.count() * ProductKernels::kMaxPanel; }
  int64_t sum_floats() const { return w.groups * group_sum_floats(); }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const RowBlocks blocks_;
  const GatheredPanels gathered_;
  int64_t size_[2];  // of the image, as used_image_size returns it
  std::vector<int32_t> offsets_;
  int64_t images_ = 1;  // packed at a time
};

// The state of one call.
struct WeightGrad::Job {
  const Launch* launch;
  const WeightGrad& op;
  float *gradients, *image_data, *sums;
  int64_t image = 0, images = 0;  // packed now

  const Window& w() const { return op.w; }
  const Buffer& dy() const { return launch->inputs[0]; }
  const Buffer& x() const { return launch->inputs[1]; }

  // Copies a row of the image as [column, channel].
  void transpose_row(int64_t index) const {
    const int64_t rows = op.size_[0], columns = op.size_[1], channels = w().channels;
    const int64_t row = index % rows - w().padding[0], group = index / rows % w().groups,
                  n = image + index / rows / w().groups;
    float* to = image_data + index * columns * channels;
    const int64_t begin = std::clamp<int64_t>(w().padding[1], 0, columns),
                  end = std::clamp<int64_t>(w().image[1] + w().padding[1], begin, columns);
    if (row < 0 || row >= w().image[0]) return std::fill(to, to + columns * channels, 0.0f), void();
    std::fill(to, to + begin * channels, 0.0f);
    std::fill(to + end * channels, to + columns * channels, 0.0f);
    const float* from = x().as<float>() + n * x().strides[0] + group * channels * x().strides[1] + row * x().strides[2];
    to += begin * channels, from += (begin - w().padding[1]) * x().strides[3];
    // Whole vectors of channels must not write into the next row, which may belong to another thread.
    copy_channels_last(op.t_, from, x().strides[1], x().strides[3], channels, end - begin, to, channels,
                       channels % kLanes == 0);
  }

  // Copies a block's rows of dy as [pixel, row], and padding for whole vectors.
  float* block_address(int64_t n, int64_t group, int64_t block) const {
    const int64_t all = w().outputs * w().pixels() + op.blocks_.count() * kLanes;
    return gradients + n * op.gradient_floats() + group * all + op.blocks_.first(block) * w().pixels() + block * kLanes;
  }
  void transpose_block(int64_t index) const {
    const int64_t blocks = op.blocks_.count(), block = index % blocks, group = index / blocks % w().groups,
                  n = index / blocks / w().groups;
    const int64_t first = group * w().outputs + op.blocks_.first(block), rows = op.blocks_.rows(block),
                  *strides = dy().strides;
    const bool dense = strides[2] == w().out[1] * strides[3];
    const int64_t down = dense ? 1 : w().out[0], across = dense ? w().pixels() : w().out[1];
    const float* from = dy().as<float>() + (image + n) * strides[0] + first * strides[1];
    float* to = block_address(n, group, block);
    for (int64_t y = 0; y < down; y++, from += strides[2], to += across * rows)
      copy_channels_last(op.t_, from, strides[1], strides[3], rows, across, to, rows);
  }

  int64_t count_chunks() const { return ceil_div(op.blocks_.count(), kBlocks); }
  int64_t count_tasks() const { return op.count_panels() * count_chunks() * w().groups; }

  float* sum_address(int64_t group, int64_t panel, int64_t block) const {
    return sums + group * op.group_sum_floats() + (panel * op.blocks_.count() + block) * ProductKernels::kMaxPanel;
  }

  // Sums a panel for some blocks.
  void sum_panel(int64_t index) const {
    const int64_t chunk = index % count_chunks() * kBlocks, group = index / count_chunks() % w().groups,
                  panel = index / count_chunks() / w().groups;
    for (int64_t n = 0; n < images; n++) {
      Run runs[ProductKernels::kMaxColumns];
      const size_t n_runs =
          find_runs(panel, image_data + (n * w().groups + group) * op.size_[0] * op.size_[1] * w().channels, runs);
      op.gathered_.for_each_part({runs, n_runs}, op.offsets_, [&](const float* part, int64_t pixel, int64_t depth) {
        for (int64_t block = chunk; block < std::min(chunk + kBlocks, op.blocks_.count()); block++) {
          const int64_t rows = op.blocks_.rows(block);
          op.gathered_.add(rows, depth, block_address(n, group, block) + pixel * rows, part,
                           sum_address(group, panel, block), image > 0 || n > 0 || pixel > 0);
        }
      });
    }
  }
  // Where a panel's columns lie in an image: the channels of adjacent taps are one run. Returns the number of runs.
  size_t find_runs(int64_t panel, const float* from, Run* runs) const {
    const int64_t together = w().dilation[1] == 1 ? w().kernel[1] : 1, first = panel * op.k_.panel_columns;
    size_t n = 0;
    for_each_run(w().taps() / together, together * w().channels, first,
                 std::min(first + op.k_.panel_columns, op.count_columns()),
                 [&](int64_t, int64_t row, int64_t column, int64_t count, int64_t at) {
               const int64_t y = row * together / w().kernel[1] * w().dilation[0],
                             x = row * together % w().kernel[1] * w().dilation[1];
               runs[n++] = {from + (y * op.size_[1] + x) * w().channels + column, at, count};
             });
    return n;
  }

  // Writes the gradients of a block of outputs.
  void write_weight_grads(int64_t index) const {
    const int64_t block = index % op.blocks_.count(), group = index / op.blocks_.count(),
                  first = group * w().outputs + op.blocks_.first(block);
    const Buffer& dw = launch->outputs[0];
    for (int64_t i = 0; i < op.blocks_.rows(block); i++) {
      float* to = dw.as<float>() + (first + i) * dw.strides[0];
      int64_t tap = 0, c = 0, place = 0;
      for (int64_t panel = 0; panel < op.count_panels(); panel++) {
        const float* from = sum_address(group, panel, block) + i * op.k_.panel_columns;
        const int64_t count = std::min(op.k_.panel_columns, op.count_columns() - panel * op.k_.panel_columns);
        for (int64_t j = 0; j < count; j++) {
          to[place + c * dw.strides[1]] = from[j];
          if (++c < w().channels) continue;
          c = 0, tap++;
          place = tap / w().kernel[1] * dw.strides[2] + tap % w().kernel[1] * dw.strides[3];
        }
      }
    }
  }

  void zero_weight_grads() const {
    const Buffer& dw = launch->outputs[0];
    std::fill_n(dw.as<float>(), w().groups * w().outputs * w().channels * w().taps(), 0.0f);
  }
};

Status* WeightGrad::run(const Launch* launch) const {
  auto* gradients = static_cast<float*>(launch->scratch);
  auto* image_data = gradients + images_ * gradient_floats();
  Job job{launch, *this, gradients, image_data, image_data + images_ * image_floats() + kOverread};
  if (w.batch == 0) return job.zero_weight_grads(), nullptr;
  for (; job.image < w.batch; job.image += images_) {
    job.images = std::min(images_, w.batch - job.image);
    if (Status* failed = for_each_index(job, &Job::transpose_row, job.images * w.groups * size_[0],
                                        size_[1] * w.channels))
      return failed;
    if (Status* failed = for_each_index(job, &Job::transpose_block, job.images * w.groups * blocks_.count(),
                                        w.pixels() * blocks_.max_rows()))
      return failed;
    if (Status* failed = for_each_index(job, &Job::sum_panel, job.count_tasks(), w.pixels() * k_.panel_columns))
      return failed;
  }
  return for_each_index(job, &Job::write_weight_grads, w.groups * blocks_.count(),
                        w.taps() * w.channels * blocks_.max_rows());
}

}  // namespace

KernelPtr prepare_convolution_weight_grad(const ConvolutionCode& code, const NodeView& v) {
  const Window w(shape_in(v, 1), shape_out(v), shape_in(v, 0), v.node, 3);
  if (winograd_is_profitable(w)) return prepare_winograd_weight_grad(code, w);
  if (is_depthwise(w) && w.groups > 1) {
    Grid grid;
    const Planes planes = forward_planes(w, grid);
    if (planes.channel_floats() > kMaxOffset) return nullptr;
    add_forward_taps(w, planes, grid);
    return prepare_depthwise_weight_grad(code, w, planes, grid);
  }
  if (w.groups * w.channels * used_image_size(w, 0) * used_image_size(w, 1) > kMaxOffset) return nullptr;
  return std::make_unique<WeightGrad>(code, w);
}

}  // namespace thunder
