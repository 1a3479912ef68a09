// dw = G^T (sum over tiles of (A dy A^T) (B^T x B)) G: at each point of a tile a matrix product that sums over tiles.
// Lanes are channels here, so images are copied with channels innermost.
#include <algorithm>

#include "executors/convolution/panels.h"
#include "executors/convolution/phases.h"
#include "executors/convolution/winograd.h"

namespace thunder {
namespace {

constexpr int64_t kPoints = WinogradKernels::kPoints, kTaps = WinogradKernels::kTaps,
                  kLanes = WinogradKernels::kMostLanes;

class TiledWeightGrad : public Site {
 public:
  TiledWeightGrad(const ConvolutionCode& code, const Window& window)
      : k_(code.kernels), t_(code.transforms), w(window), blocks_(w.outputs, k_.panel_rows),
        panels_(parts(w.channels, k_.panel_columns)), channels_(up_to(w.channels, std::max(k_.panel_columns, kLanes))),
        outputs_(up_to(w.outputs, kLanes) + kLanes) {
    for (int i = 0; i < 2; i++) grid_[i] = parts(w.out[i], 2);
    // All sums are read and written again for each group of images: the images' data should not be smaller than the
    // sums.
    const int64_t most = std::clamp(w.groups * sums(), kSecondLevel, kThirdLevel);
    images_ = images_at_a_time(
        w.batch, w.groups * (image() + gradient() + kPoints * grid_[0] * grid_[1] * (channels_ + w.outputs)), most);
    tiles_ = images_ * grid_[0] * grid_[1];
    for (int64_t tile = 0; tile < tiles_; tile++) offsets_.push_back(static_cast<int32_t>(tile * k_.panel_columns));
  }

  size_t scratch() const {
    const int64_t floats =
        images_ * w.groups * (image() + gradient()) + kLanes + w.groups * (inputs() + points() + sums());
    return static_cast<size_t>(floats) * sizeof(float);
  }

  Status* run(const Launch* launch) const override;

 private:
  struct Job;

  // Sizes in floats: of a padded image and its gradient, [row, column, channel]; of a group's tiles at the points,
  // [point, panel, tile, column], and their gradients, [point, block, tile, row]; and of the sums, [point, block,
  // panel].
  int64_t width() const { return 2 * grid_[1] + 2; }
  int64_t image() const { return (2 * grid_[0] + 2) * width() * channels_; }
  int64_t gradient() const { return 4 * grid_[0] * grid_[1] * outputs_; }
  int64_t inputs() const { return kPoints * panels_ * tiles_ * k_.panel_columns; }
  int64_t points() const { return kPoints * tiles_ * w.outputs; }
  int64_t sums() const { return kPoints * blocks_.count() * panels_ * ProductKernels::kMostPanel; }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const RowBlocks blocks_;
  const int64_t panels_, channels_, outputs_;  // channels_ and outputs_: strides from one pixel to the next
  int64_t grid_[2], images_ = 1, tiles_ = 0;  // tiles along an axis; images at a time, and their tiles
  std::vector<int32_t> offsets_;  // of a panel's tiles
};

// The state of one call.
struct TiledWeightGrad::Job : Phases<Job> {
  const TiledWeightGrad& site;
  float *images_data, *gradients, *inputs, *points, *sums;
  int64_t image = 0, images = 0;  // processed now

  const Window& w() const { return site.w; }

  // Copies columns of a row of one image and group, channels innermost.
  void transpose_columns(const Buffer& from, const float* row, int64_t channels, int64_t columns, float* to,
                    int64_t distance) const {
    if (from.strides[3] == 1) return site.t_.copy_transposed(row, from.strides[1], channels, columns, to, distance);
    for (int64_t x = 0; x < columns; x++)
      for (int64_t c = 0; c < channels; c++) to[x * distance + c] = row[c * from.strides[1] + x * from.strides[3]];
  }
  static const float* row_of(const Buffer& from, int64_t n, int64_t channel, int64_t row) {
    return from.as<float>() + n * from.strides[0] + channel * from.strides[1] + row * from.strides[2];
  }

  void transpose_image(int64_t index) const {
    const Buffer& x = launch->inputs[1];
    const int64_t rows = 2 * site.grid_[0] + 2, y = index % rows - w().padding[0], group = index / rows % w().groups,
                  n = index / rows / w().groups;
    float* to = images_data + index * site.width() * site.channels_;
    std::fill_n(to, site.width() * site.channels_, 0.0f);
    if (y < 0 || y >= w().image[0]) return;
    transpose_columns(x, row_of(x, image + n, group * w().channels, y), w().channels, w().image[1],
                 to + w().padding[1] * site.channels_, site.channels_);
  }
  void transpose_gradient(int64_t index) const {
    const Buffer& dy = launch->inputs[0];
    const int64_t rows = 2 * site.grid_[0], size = 2 * site.grid_[1] * site.outputs_;
    const int64_t y = index % rows, group = index / rows % w().groups, n = index / rows / w().groups;
    float* to = gradients + index * size;
    std::fill_n(to, size, 0.0f);
    if (y < w().out[0])
      transpose_columns(dy, row_of(dy, image + n, group * w().outputs, y), w().outputs, w().out[1], to, site.outputs_);
  }

  // Transforms a row of tiles of one image and group.
  void transform(int64_t index) const {
    const int64_t row = index % site.grid_[0], of = index / site.grid_[0], group = of % w().groups, n = of / w().groups;
    for (int64_t column = 0; column < site.grid_[1]; column++) {
      const int64_t tile = (n * site.grid_[0] + row) * site.grid_[1] + column;
      const int64_t pixel = 2 * row * site.width() + 2 * column, result = 2 * row * 2 * site.grid_[1] + 2 * column;
      transform_image(images_data + of * site.image() + pixel * site.channels_, group, tile);
      transform_gradient(gradients + of * site.gradient() + result * site.outputs_, group, tile,
                         column + 1 < site.grid_[1]);
    }
  }
  void transform_image(const float* corner, int64_t group, int64_t tile) const {
    const int64_t columns = site.k_.panel_columns, panel = site.tiles_ * columns;
    const float* pixels[16];
    for (int64_t p = 0; p < site.panels_; p++) {
      for (int64_t i = 0; i < 16; i++)
        pixels[i] = corner + (i / 4 * site.width() + i % 4) * site.channels_ + p * columns;
      site.t_.tiles(pixels, columns, inputs + group * site.inputs() + p * panel + tile * columns, site.panels_ * panel);
    }
  }
  // Vectors may write past a tile's rows: the next tile overwrites that if it `follows` in this task.
  void transform_gradient(const float* corner, int64_t group, int64_t tile, bool follows) const {
    alignas(64) float made[kPoints * kLanes];
    const float* dy[4];
    for (int64_t block = 0; block < site.blocks_.count(); block++) {
      const int64_t first = site.blocks_.first(block), rows = site.blocks_.rows(block);
      for (int64_t i = 0; i < 4; i++) dy[i] = corner + (i / 2 * 2 * site.grid_[1] + i % 2) * site.outputs_ + first;
      if (follows) site.t_.gradients(dy, rows, place(group, 0, block) + tile * rows, site.tiles_ * w().outputs);
      else site.t_.gradients(dy, rows, made, kLanes);
      for (int64_t point = 0; point < kPoints && !follows; point++)
        std::copy_n(made + point * kLanes, rows, place(group, point, block) + tile * rows);
    }
  }
  float* place(int64_t group, int64_t point, int64_t block) const {
    return points + group * site.points() + point * site.tiles_ * w().outputs + site.blocks_.first(block) * site.tiles_;
  }
  float* sum_of(int64_t group, int64_t point, int64_t block, int64_t panel) const {
    return sums + group * site.sums() +
           ((point * site.blocks_.count() + block) * site.panels_ + panel) * ProductKernels::kMostPanel;
  }

  // Sums one panel at one point.
  void sum(int64_t index) const {
    const int64_t panel = index % site.panels_, point = index / site.panels_ % kPoints,
                  group = index / site.panels_ / kPoints;
    const float* b =
        inputs + group * site.inputs() + (point * site.panels_ + panel) * site.tiles_ * site.k_.panel_columns;
    for (int64_t block = 0; block < site.blocks_.count(); block++)
      site.k_.panel(site.blocks_.rows(block), images * site.grid_[0] * site.grid_[1], place(group, point, block), b,
                    site.offsets_.data(), sum_of(group, point, block, panel), image > 0);
  }

  void finish(int64_t index) const {
    const Buffer& dw = launch->outputs[0];
    const int64_t block = index % site.blocks_.count(), group = index / site.blocks_.count(),
                  columns = site.k_.panel_columns;
    alignas(64) float taps[kTaps * ProductKernels::kMostPanel];
    for (int64_t panel = 0; panel < site.panels_; panel++)
      for (int64_t i = 0; i < site.blocks_.rows(block); i++) {
        const int64_t point = sum_of(group, 1, block, panel) - sum_of(group, 0, block, panel);
        site.t_.taps(sum_of(group, 0, block, panel) + i * columns, point, columns, taps, columns);
        float* to = dw.as<float>() + (group * w().outputs + site.blocks_.first(block) + i) * dw.strides[0] +
                    panel * columns * dw.strides[1];
        for (int64_t c = 0; c < std::min(columns, w().channels - panel * columns); c++)
          for (int64_t tap = 0; tap < kTaps; tap++)
            to[c * dw.strides[1] + tap / 3 * dw.strides[2] + tap % 3 * dw.strides[3]] = taps[tap * columns + c];
      }
  }
};

Status* TiledWeightGrad::run(const Launch* launch) const {
  auto* memory = static_cast<float*>(launch->scratch);
  auto* gradients = memory + images_ * w.groups * image();
  auto* inputs_data = gradients + images_ * w.groups * gradient() + kLanes;
  auto* points_data = inputs_data + w.groups * inputs();
  Job job{{launch}, *this, memory, gradients, inputs_data, points_data, points_data + w.groups * points()};
  for (; job.image < w.batch; job.image += images_) {
    job.images = std::min(images_, w.batch - job.image);
    const int64_t all = job.images * w.groups;
    if (Status* failed = job.each<&Job::transpose_image>(all * (2 * grid_[0] + 2), width() * channels_)) return failed;
    if (Status* failed = job.each<&Job::transpose_gradient>(all * 2 * grid_[0], 2 * grid_[1] * outputs_)) return failed;
    if (Status* failed = job.each<&Job::transform>(all * grid_[0], kPoints * grid_[1] * (channels_ + w.outputs)))
      return failed;
    if (Status* failed = job.each<&Job::sum>(w.groups * kPoints * panels_, tiles_ * w.outputs)) return failed;
  }
  return job.each<&Job::finish>(w.groups * blocks_.count(), kPoints * k_.panel_rows * w.channels);
}

}  // namespace

std::unique_ptr<Site> winograd_weight_grad(const ConvolutionCode& code, const Window& w, size_t* scratch) {
  auto site = std::make_unique<TiledWeightGrad>(code, w);
  *scratch = site->scratch();
  return site;
}

}  // namespace thunder
