// Winograd convolution: correlations with 3 by 3 taps and stride 1 as matrix products, one for each point of a 4 by 4
// tile. 16 multiply-adds make 4 outputs, where direct convolution takes 36. `winograd_kernels.h` has the transforms.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "executors/cpu/convolution/ops.h"
#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/convolution/planes.h"
#include "executors/cpu/convolution/window.h"
#include "executors/cpu/parallel.h"

namespace thunder {
namespace {

constexpr int64_t kPoints = WinogradKernels::kPoints, kTaps = WinogradKernels::kTaps,
                  kLanes = WinogradKernels::kMaxLanes;

// With fewer channels on either side, or fewer tiles, the transforms are not amortized. Tiles are addressed by 32-bit
// offsets.
constexpr int64_t kMinChannels = 16, kMinTiles = 64, kMaxPixels = kMaxOffset / ProductKernels::kMaxPanel;

// `summed`: which of the weight's two channel axes is summed over, 0 or 1; `reversed`: whether the taps are applied in
// reverse order. Pairs are along y, along x.
struct Shapes {
  int64_t batch, groups, sums, rows;
  std::array<int64_t, 2> image, out, padding;
  size_t summed;
  bool reversed;
};

class Winograd : public Kernel {
 public:
  // A task's tiles over all channels take half of the L2 cache, beside the weights of a block.
  Winograd(const ConvolutionCode& code, const Shapes& shapes)
      : Kernel(this), k_(code.kernels), t_(code.transforms), s_(shapes),
        threads_(static_cast<int64_t>(code.machine.threads)), blocks_(s_.rows, k_.panel_rows),
        tiles_(std::clamp<int64_t>(max_task_floats(code.machine) / 2 / (kPoints * s_.sums) / k_.panel_columns, 1, 4) *
               k_.panel_columns) {
    const int64_t halo[2] = {1, 1};
    for (int i = 0; i < 2; i++) {
      grid_[i] = ceil_div(s_.out[i], 2);
      planes_.image[i] = s_.image[i], planes_.stride[i] = planes_.kept[i] = 2, planes_.padding[i] = s_.padding[i];
    }
    planes_.choose_sizes(grid_, halo);
    planes_.set_rows(std::min(grid_[0], ceil_div(tiles_, grid_[1]) + 1));
    for (int64_t c = 0; c < s_.sums; c++) offsets_.push_back(static_cast<int32_t>(c * tiles_));
  }

  size_t scratch() const override { return slots().bytes() + static_cast<size_t>(weight_floats()) * sizeof(float); }
  Status* run(const Launch* launch) const;

 private:
  struct Job;

  int64_t weight_floats() const { return kPoints * s_.groups * s_.rows * s_.sums; }
  int64_t point_floats() const { return s_.sums * tiles_ + kLanes; }  // floats of a point's tiles
  int64_t count_chunks() const { return ceil_div(s_.batch * grid_[0] * grid_[1], tiles_); }
  Slots slots() const {
    return {s_.groups * count_chunks(), threads_, kPoints * point_floats() + planes_.channel_floats() + kOverread};
  }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Shapes s_;
  const int64_t threads_;
  const RowBlocks blocks_;
  Planes planes_;                 // of a task
  int64_t grid_[2];               // tiles of an image
  int64_t tiles_;                 // of a task
  std::vector<int32_t> offsets_;  // of a channel's tiles
};

// The state of one call: weights, and in each slot a task's tiles and the planes of a channel.
struct Winograd::Job {
  const Launch* launch;
  const Winograd& op;
  float* weights;

  const Shapes& s() const { return op.s_; }

  float* weight_address(int64_t group, int64_t point, int64_t block) const {
    return weights + (group * kPoints + point) * s().rows * s().sums + op.blocks_.first(block) * s().sums;
  }

  // Transforms the weights of a block, at each point [channel, row].
  void pack_transformed_weights(int64_t index) const {
    const Buffer& weight = launch->inputs[1];
    const int64_t block = index % op.blocks_.count(), group = index / op.blocks_.count(), rows = op.blocks_.rows(block);
    const int64_t* strides = weight.strides, row = strides[1 - s().summed], outputs = s().summed ? s().rows : s().sums;
    const float* from = weight.as<float>() + group * outputs * strides[0] + op.blocks_.first(block) * row;
    alignas(64) float taps[kTaps * kLanes] = {}, made[kPoints * kLanes];
    for (int64_t c = 0; c < s().sums; c++, from += strides[s().summed]) {
      for (int64_t tap = 0; tap < kTaps; tap++) {
        const float* at = from + tap / 3 * strides[2] + tap % 3 * strides[3];
        float* to = taps + (s().reversed ? kTaps - 1 - tap : tap) * kLanes;
        for (int64_t i = 0; i < rows; i++) to[i] = at[i * row];
      }
      // Vectors may write past the rows, where the next channel overwrites them; behind the last channel may be another
      // thread's data.
      const bool inside = c * rows + kLanes <= s().sums * rows;
      if (inside) op.t_.transform_weights(taps, weight_address(group, 0, block) + c * rows, s().rows * s().sums);
      else op.t_.transform_weights(taps, made, kLanes);
      for (int64_t point = 0; point < kPoints && !inside; point++)
        std::copy_n(made + point * kLanes, rows, weight_address(group, point, block) + c * rows);
    }
  }

  // Calls f for runs of adjacent tiles in [first, end), counted along rows and images, as for_each_run does.
  template <class F>
  void for_each_run_of_tiles(int64_t first, int64_t end, const F& f) const {
    for_each_run(op.grid_[0], op.grid_[1], first, end, f);
  }

  void compute_tiles(int64_t index, float* tiles) const {
    const int64_t chunks = op.count_chunks(), group = index / chunks, first = index % chunks * op.tiles_;
    const int64_t end = std::min(first + op.tiles_, s().batch * op.grid_[0] * op.grid_[1]);
    for (int64_t c = 0; c < s().sums; c++) transform_tiles(group, c, first, end, tiles);
    for (int64_t block = 0; block < op.blocks_.count(); block++)
      for (int64_t panel = first; panel < end; panel += op.k_.panel_columns)
        multiply_block(group, block, tiles + (panel - first), panel, std::min(end, panel + op.k_.panel_columns));
  }

  // Transforms the tiles [first, end) of a channel, image by image.
  void transform_tiles(int64_t group, int64_t c, int64_t first, int64_t end, float* tiles) const {
    const Buffer& x = launch->inputs[0];
    const int64_t columns = op.grid_[1], each = op.grid_[0] * columns, steps[] = {x.strides[2], x.strides[3]};
    float* planes = tiles + kPoints * op.point_floats();
    for (int64_t begin = first, n = first / each; begin < end; begin = ++n * each) {
      const int64_t last = std::min(end, (n + 1) * each), row = begin % each / columns;
      Planes p = op.planes_;
      p.set_rows((last - 1) % each / columns - row + 1);
      p.copy_image(op.t_, x.as<float>() + n * x.strides[0] + (group * s().sums + c) * x.strides[1], steps, row, planes);
      std::fill_n(planes + p.channel_floats(), kOverread, 0.0f);  // the zeros to the right of the last row
      for_each_run_of_tiles(begin, last, [&](int64_t, int64_t y, int64_t column, int64_t count, int64_t at) {
        transform_run(p, planes + (y - row) * p.pitch + column, count, tiles + c * op.tiles_ + (begin - first) + at);
      });
    }
  }
  // What a run writes past its end is overwritten by the next run or channel, or lies behind the point's last tile.
  void transform_run(const Planes& p, const float* plane, int64_t count, float* to) const {
    const float* pixels[16];
    for (int64_t i = 0; i < 16; i++)
      pixels[i] = plane + (i / 4 % 2 * 2 + i % 2) * p.plane_floats() + i / 8 * p.pitch + i % 4 / 2;
    op.t_.transform_inputs(pixels, count, to, op.point_floats());
  }

  void multiply_block(int64_t group, int64_t block, const float* tiles, int64_t first, int64_t end) const {
    const ProductKernels& k = op.k_;
    const int64_t rows = op.blocks_.rows(block);
    alignas(64) float sums[kPoints * ProductKernels::kMaxPanel];
    for (int64_t point = 0; point < kPoints; point++)
      k.panel(rows, s().sums, weight_address(group, point, block), tiles + point * op.point_floats(),
              op.offsets_.data(), sums + point * ProductKernels::kMaxPanel, false);
    for (int64_t i = 0; i < rows; i++)
      store_outputs(group * s().rows + op.blocks_.first(block) + i, sums + i * k.panel_columns, first, end);
  }

  void store_outputs(int64_t channel, const float* sums, int64_t first, int64_t end) const {
    const Buffer& y = launch->outputs[0];
    alignas(64) float made[2][2 * ProductKernels::kMaxPanel];
    float* const both[] = {made[0], made[1]};
    op.t_.transform_outputs(sums, ProductKernels::kMaxPanel, end - first, both);
    for_each_run_of_tiles(first, end, [&](int64_t n, int64_t row, int64_t column, int64_t count, int64_t at) {
      float* to = y.as<float>() + n * y.strides[0] + channel * y.strides[1] + 2 * row * y.strides[2] +
                  2 * column * y.strides[3];
      const int64_t columns = std::min(2 * count, s().out[1] - 2 * column),
                    down = std::min<int64_t>(2, s().out[0] - 2 * row);
      for (int64_t i = 0; i < down; i++, to += y.strides[2])
        if (y.strides[3] == 1) std::copy_n(made[i] + 2 * at, columns, to);
        else
          for (int64_t x = 0; x < columns; x++) to[x * y.strides[3]] = made[i][2 * at + x];
    });
  }
};

Status* Winograd::run(const Launch* launch) const {
  const Job job{launch, *this, static_cast<float*>(launch->scratch) + slots().bytes() / sizeof(float)};
  if (Status* failed = for_each_index(job, &Job::pack_transformed_weights, s_.groups * blocks_.count(),
                                      kPoints * s_.sums * blocks_.max_rows()))
    return failed;
  return slots().run(launch, [&](int64_t index, float* tiles) { job.compute_tiles(index, tiles); });
}

}  // namespace

bool winograd_is_profitable(const Window& w) {
  for (int i = 0; i < 2; i++)
    if (w.kernel[i] != 3 || w.stride[i] != 1 || w.dilation[i] != 1 || w.padding[i] > 2 || w.out[i] < 4) return false;
  if (std::max(w.pixels(), w.image[0] * w.image[1]) > kMaxPixels) return false;
  return std::min(w.channels, w.outputs) >= kMinChannels &&
         w.batch * ceil_div(w.out[0], 2) * ceil_div(w.out[1], 2) >= kMinTiles;
}

KernelPtr prepare_winograd(const ConvolutionCode& code, const Window& w) {
  const Shapes shapes{w.batch, w.groups, w.channels, w.outputs, w.image, w.out, w.padding, 1, false};
  return std::make_unique<Winograd>(code, shapes);
}

// The gradient of the input is a correlation of dy with the reversed taps.
KernelPtr prepare_winograd_input_grad(const ConvolutionCode& code, const Window& w) {
  const std::array<int64_t, 2> padding = {2 - w.padding[0], 2 - w.padding[1]};
  const Shapes shapes{w.batch, w.groups, w.outputs, w.channels, w.out, w.image, padding, 0, true};
  return std::make_unique<Winograd>(code, shapes);
}

}  // namespace thunder
