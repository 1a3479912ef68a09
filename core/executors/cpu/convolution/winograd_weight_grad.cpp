// dw = G^T (sum over tiles of (A dy A^T) (B^T x B)) G: at each point of a tile a matrix product that sums over tiles.
// Lanes are channels here, so images are copied with channels innermost.
#include <algorithm>

#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/parallel.h"
#include "executors/cpu/convolution/ops.h"
#include "executors/cpu/convolution/planes.h"
#include "executors/cpu/convolution/window.h"

namespace thunder {
namespace {

constexpr int64_t kPoints = WinogradKernels::kPoints, kTaps = WinogradKernels::kTaps,
                  kLanes = WinogradKernels::kMaxLanes;

class TiledWeightGrad : public Kernel {
 public:
  TiledWeightGrad(const ConvolutionCode& code, const Window& window)
      : Kernel(this), k_(code.kernels), t_(code.transforms), w(window), blocks_(w.outputs, k_.panel_rows),
        panels_(ceil_div(w.channels, k_.panel_columns)),
        channels_(round_up(w.channels, std::max(k_.panel_columns, kLanes))),
        outputs_(round_up(w.outputs, kLanes) + kLanes) {
    for (int i = 0; i < 2; i++) grid_[i] = ceil_div(w.out[i], 2);
    // All sums are read and written again for each group of images: the images' data should not be smaller than the
    // sums.
    const int64_t most =
        std::clamp(w.groups * sum_floats(), 2 * max_task_floats(code.machine), max_packed_floats(code.machine));
    images_ = images_at_a_time(
        w.batch,
        w.groups * (image_floats() + gradient_floats() + kPoints * grid_[0] * grid_[1] * (channels_ + w.outputs)),
        most);
    tiles_ = images_ * grid_[0] * grid_[1];
    for (int64_t tile = 0; tile < tiles_; tile++) offsets_.push_back(static_cast<int32_t>(tile * k_.panel_columns));
  }

  size_t scratch() const override {
    const int64_t floats = images_ * w.groups * (image_floats() + gradient_floats()) + kLanes +
                           w.groups * (input_floats() + point_floats() + sum_floats());
    return static_cast<size_t>(floats) * sizeof(float);
  }

  Status* run(const Launch* launch) const;

 private:
  struct Job;

  // Sizes in floats: of a padded image and its gradient, [row, column, channel]; of a group's tiles at the points,
  // [point, panel, tile, column], and their gradients, [point, block, tile, row]; and of the sums, [point, block,
  // panel].
  int64_t padded_width() const { return 2 * grid_[1] + 2; }
  int64_t image_floats() const { return (2 * grid_[0] + 2) * padded_width() * channels_; }
  int64_t gradient_floats() const { return 4 * grid_[0] * grid_[1] * outputs_; }
  int64_t input_floats() const { return kPoints * panels_ * tiles_ * k_.panel_columns; }
  int64_t point_floats() const { return kPoints * tiles_ * w.outputs; }
  int64_t sum_floats() const { return kPoints * blocks_.count() * panels_ * ProductKernels::kMaxPanel; }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const RowBlocks blocks_;
  const int64_t panels_, channels_, outputs_;  // channels_ and outputs_: strides from one pixel to the next
  int64_t grid_[2], images_ = 1, tiles_ = 0;  // tiles along an axis; images at a time, and their tiles
  std::vector<int32_t> offsets_;  // of a panel's tiles
};

// The state of one call.
struct TiledWeightGrad::Job {
  const Launch* launch;
  const TiledWeightGrad& op;
  float *images_data, *gradients, *inputs, *points, *sums;
  int64_t image = 0, images = 0;  // processed now

  const Window& w() const { return op.w; }

  static const float* row_address(const Buffer& from, int64_t n, int64_t channel, int64_t row) {
    return from.as<float>() + n * from.strides[0] + channel * from.strides[1] + row * from.strides[2];
  }

  void transpose_image(int64_t index) const {
    const Buffer& x = launch->inputs[1];
    const int64_t rows = 2 * op.grid_[0] + 2, y = index % rows - w().padding[0], group = index / rows % w().groups,
                  n = index / rows / w().groups;
    float* to = images_data + index * op.padded_width() * op.channels_;
    std::fill_n(to, op.padded_width() * op.channels_, 0.0f);
    if (y < 0 || y >= w().image[0]) return;
    copy_channels_last(op.t_, row_address(x, image + n, group * w().channels, y), x.strides[1], x.strides[3],
                       w().channels, w().image[1], to + w().padding[1] * op.channels_, op.channels_);
  }
  void transpose_gradient(int64_t index) const {
    const Buffer& dy = launch->inputs[0];
    const int64_t rows = 2 * op.grid_[0], size = 2 * op.grid_[1] * op.outputs_;
    const int64_t y = index % rows, group = index / rows % w().groups, n = index / rows / w().groups;
    float* to = gradients + index * size;
    std::fill_n(to, size, 0.0f);
    if (y < w().out[0])
      copy_channels_last(op.t_, row_address(dy, image + n, group * w().outputs, y), dy.strides[1], dy.strides[3],
                         w().outputs, w().out[1], to, op.outputs_);
  }

  // Transforms a row of tiles of one image and group.
  void transform_tile_row(int64_t index) const {
    const int64_t row = index % op.grid_[0], of = index / op.grid_[0], group = of % w().groups, n = of / w().groups;
    for (int64_t column = 0; column < op.grid_[1]; column++) {
      const int64_t tile = (n * op.grid_[0] + row) * op.grid_[1] + column;
      const int64_t pixel = 2 * row * op.padded_width() + 2 * column, result = 2 * row * 2 * op.grid_[1] + 2 * column;
      transform_image(images_data + of * op.image_floats() + pixel * op.channels_, group, tile);
      transform_gradient(gradients + of * op.gradient_floats() + result * op.outputs_, group, tile,
                         op.grid_[1] - column - 1);
    }
  }
  void transform_image(const float* corner, int64_t group, int64_t tile) const {
    const int64_t columns = op.k_.panel_columns, panel = op.tiles_ * columns;
    const float* pixels[16];
    for (int64_t p = 0; p < op.panels_; p++) {
      for (int64_t i = 0; i < 16; i++)
        pixels[i] = corner + (i / 4 * op.padded_width() + i % 4) * op.channels_ + p * columns;
      op.t_.transform_inputs(pixels, columns, inputs + group * op.input_floats() + p * panel + tile * columns,
                             op.panels_ * panel);
    }
  }
  // Vectors may write past a tile's rows: the next tiles overwrite that if enough of them follow in this task, as many
  // as a block of few rows needs.
  void transform_gradient(const float* corner, int64_t group, int64_t tile, int64_t follow) const {
    alignas(64) float made[kPoints * kLanes];
    const float* dy[4];
    for (int64_t block = 0; block < op.blocks_.count(); block++) {
      const int64_t first = op.blocks_.first(block), rows = op.blocks_.rows(block);
      for (int64_t i = 0; i < 4; i++) dy[i] = corner + (i / 2 * 2 * op.grid_[1] + i % 2) * op.outputs_ + first;
      const bool in_place = round_up(rows, kLanes) <= rows * (1 + follow);
      if (in_place)
        op.t_.transform_output_grads(dy, rows, gradient_address(group, 0, block) + tile * rows,
                                     op.tiles_ * w().outputs);
      else op.t_.transform_output_grads(dy, rows, made, kLanes);
      for (int64_t point = 0; point < kPoints && !in_place; point++)
        std::copy_n(made + point * kLanes, rows, gradient_address(group, point, block) + tile * rows);
    }
  }
  float* gradient_address(int64_t group, int64_t point, int64_t block) const {
    return points + group * op.point_floats() + point * op.tiles_ * w().outputs + op.blocks_.first(block) * op.tiles_;
  }
  float* sum_address(int64_t group, int64_t point, int64_t block, int64_t panel) const {
    return sums + group * op.sum_floats() +
           ((point * op.blocks_.count() + block) * op.panels_ + panel) * ProductKernels::kMaxPanel;
  }

  // Sums one panel at one point.
  void sum_panel(int64_t index) const {
    const int64_t panel = index % op.panels_, point = index / op.panels_ % kPoints,
                  group = index / op.panels_ / kPoints;
    const float* b =
        inputs + group * op.input_floats() + (point * op.panels_ + panel) * op.tiles_ * op.k_.panel_columns;
    for (int64_t block = 0; block < op.blocks_.count(); block++)
      op.k_.panel(op.blocks_.rows(block), images * op.grid_[0] * op.grid_[1], gradient_address(group, point, block), b,
                    op.offsets_.data(), sum_address(group, point, block, panel), image > 0);
  }

  void write_weight_grads(int64_t index) const {
    const Buffer& dw = launch->outputs[0];
    const int64_t block = index % op.blocks_.count(), group = index / op.blocks_.count(), columns = op.k_.panel_columns;
    alignas(64) float taps[kTaps * ProductKernels::kMaxPanel];
    for (int64_t panel = 0; panel < op.panels_; panel++)
      for (int64_t i = 0; i < op.blocks_.rows(block); i++) {
        const int64_t point = sum_address(group, 1, block, panel) - sum_address(group, 0, block, panel);
        op.t_.transform_weight_grads(sum_address(group, 0, block, panel) + i * columns, point, columns, taps, columns);
        float* to = dw.as<float>() + (group * w().outputs + op.blocks_.first(block) + i) * dw.strides[0] +
                    panel * columns * dw.strides[1];
        for (int64_t c = 0; c < std::min(columns, w().channels - panel * columns); c++)
          for (int64_t tap = 0; tap < kTaps; tap++)
            to[c * dw.strides[1] + tap / 3 * dw.strides[2] + tap % 3 * dw.strides[3]] = taps[tap * columns + c];
      }
  }
};

Status* TiledWeightGrad::run(const Launch* launch) const {
  auto* memory = static_cast<float*>(launch->scratch);
  auto* gradients = memory + images_ * w.groups * image_floats();
  auto* inputs_data = gradients + images_ * w.groups * gradient_floats() + kLanes;
  auto* points_data = inputs_data + w.groups * input_floats();
  Job job{launch, *this, memory, gradients, inputs_data, points_data, points_data + w.groups * point_floats()};
  for (; job.image < w.batch; job.image += images_) {
    job.images = std::min(images_, w.batch - job.image);
    const int64_t all = job.images * w.groups;
    if (Status* failed =
            for_each_index(job, &Job::transpose_image, all * (2 * grid_[0] + 2), padded_width() * channels_))
      return failed;
    if (Status* failed = for_each_index(job, &Job::transpose_gradient, all * 2 * grid_[0], 2 * grid_[1] * outputs_))
      return failed;
    if (Status* failed = for_each_index(job, &Job::transform_tile_row, all * grid_[0],
                                        kPoints * grid_[1] * (channels_ + w.outputs)))
      return failed;
    if (Status* failed = for_each_index(job, &Job::sum_panel, w.groups * kPoints * panels_, tiles_ * w.outputs))
      return failed;
  }
  return for_each_index(job, &Job::write_weight_grads, w.groups * blocks_.count(),
                        kPoints * k_.panel_rows * w.channels);
}

}  // namespace

KernelPtr prepare_winograd_weight_grad(const ConvolutionCode& code, const Window& w) {
  return std::make_unique<TiledWeightGrad>(code, w);
}

}  // namespace thunder
