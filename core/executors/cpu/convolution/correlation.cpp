#include "executors/cpu/convolution/correlation.h"

#include <algorithm>

#include "executors/cpu/convolution/depthwise.h"
#include "executors/cpu/convolution/panels.h"
#include "executors/cpu/parallel.h"

namespace thunder {
namespace {

constexpr int64_t kMaxBlocks = 16;  // whose sums a task computes at a time

class Correlation : public Kernel {
 public:
  Correlation(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
              std::vector<Grid> grids, Summed summed, bool sparse)
      : Kernel(this), k_(code.kernels), t_(code.transforms), w(window), planes_(planes), band_(band),
        grids_(std::move(grids)), summed_(static_cast<size_t>(summed)),
        sums_(summed == Summed::inputs ? w.channels : w.outputs),
        rows_(summed == Summed::inputs ? w.outputs : w.channels), blocks_(rows_, k_.panel_rows), gathered_(k_),
        sparse_(sparse), threads_(static_cast<int64_t>(code.machine.threads)) {
    const int64_t task = max_task_floats(code.machine);
    int64_t at = 0;
    for (const Grid& g : grids_) {
      Weights& packed = weights_.emplace_back();
      packed.at = at, packed.depth = sums_ * static_cast<int64_t>(g.taps.size());
      for (int64_t c = 0; c < sums_; c++)
        for (int64_t offset : g.tap_offsets)
          packed.offsets.push_back(static_cast<int32_t>(c * planes_.channel_floats() + offset));
      const int64_t most =
          std::clamp<int64_t>(task / std::max<int64_t>(1, packed.depth * blocks_.max_rows()), 4, kMaxBlocks);
      packed.blocks =
          std::max<int64_t>(1, ceil_div(blocks_.count(), std::max<int64_t>(1, ceil_div(blocks_.count(), most))));
      at += rows_ * packed.depth;
      bands_ = std::max(bands_, ceil_div(g.size[0], band_));
    }
    images_ = choose_images_per_task(task);
    shares_ = std::clamp<int64_t>(threads_ / std::max<int64_t>(1, count_planes_tasks()), 1, blocks_.count());
  }

  size_t scratch() const override {
    return slots().bytes() + static_cast<size_t>(w.groups * group_weight_floats()) * sizeof(float);
  }
  Status* run(const Launch* launch) const;

 private:
  struct Job;
  struct Weights {
    int64_t at, depth;  // where a grid's weights begin, and how many products a sum has
    std::vector<int32_t> offsets;  // of those products' pixels in the planes of an image
    int64_t blocks;  // how many blocks' weights stay in the L2 cache
  };
  int64_t group_weight_floats() const {
    return weights_.empty() ? 0 : weights_.back().at + rows_ * weights_.back().depth;
  }
  int64_t image_plane_floats() const { return sums_ * planes_.channel_floats(); }
  int64_t count_panels(const Grid& g, int64_t images) const {
    return ceil_div(images * std::min(g.size[0], band_) * g.size[1], k_.panel_columns);
  }
  // Panels continue from one image to the next. Of all numbers of images that fit, the one with which the busiest
  // thread has the fewest panels.
  int64_t choose_images_per_task(int64_t task) const {
    const int64_t most = images_at_a_time(w.batch, image_plane_floats(), task);
    int64_t best = 1, least = INT64_MAX;
    for (int64_t images = 1; images <= most; images++) {
      int64_t each = 0;
      for (const Grid& g : grids_) each += count_panels(g, images) * static_cast<int64_t>(g.taps.size());
      const int64_t total = each * ceil_div(w.groups * ceil_div(w.batch, images) * bands_, threads_);
      if (total < least) best = images, least = total;
    }
    return best;
  }
  int64_t count_planes_tasks() const { return w.groups * ceil_div(w.batch, images_) * bands_; }
  Slots slots() const { return {count_planes_tasks() * shares_, threads_, images_ * image_plane_floats() + kOverread}; }

  const ProductKernels& k_;
  const WinogradKernels& t_;
  const Window w;
  const Planes planes_;
  const int64_t band_;
  const std::vector<Grid> grids_;
  const size_t summed_;
  const int64_t sums_, rows_;  // channels of a group: summed over, and of the result
  const RowBlocks blocks_;
  const GatheredPanels gathered_;
  const bool sparse_;
  const int64_t threads_;
  std::vector<Weights> weights_;
  int64_t bands_ = 0;  // of an image
  int64_t images_ = 1;  // of a task
  int64_t shares_ = 1;  // of the blocks: an image of one row has no bands for threads, which then all fill its planes
};

// The state of one call.
struct Correlation::Job {
  const Launch* launch;
  const Correlation& op;
  float* weights;

  const Window& w() const { return op.w; }
  const Buffer& x() const { return launch->inputs[0]; }
  const Buffer& weight() const { return launch->inputs[1]; }
  const Buffer& y() const { return launch->outputs[0]; }

  // Zeroes a channel of the result.
  void zero_output_channel(int64_t index) const {
    const int64_t size = y().shape[2] * y().shape[3];
    std::fill_n(y().as<float>() + index * size, size, 0.0f);
  }

  void pack_weights(int64_t index) const {
    const int64_t block = index % op.blocks_.count(), group = index / op.blocks_.count();
    for (size_t g = 0; g < op.grids_.size(); g++)
      pack_block(op.grids_[g], group, block, weights + packed_offset(group, op.weights_[g], block));
  }
  // [channel, tap, row]
  void pack_block(const Grid& grid, int64_t group, int64_t block, float* to) const {
    const int64_t *strides = weight().strides, row = strides[1 - op.summed_], rows = op.blocks_.rows(block);
    const float* from = weight().as<float>() + group * w().outputs * strides[0] + op.blocks_.first(block) * row;
    for (int64_t c = 0; c < op.sums_; c++, from += strides[op.summed_])
      for (int64_t tap : grid.taps) {
        const float* at = from + tap / w().kernel[1] * strides[2] + tap % w().kernel[1] * strides[3];
        for (int64_t i = 0; i < rows; i++) *to++ = at[i * row];
      }
  }

  int64_t packed_offset(int64_t group, const Weights& packed, int64_t block) const {
    return group * op.group_weight_floats() + packed.at + op.blocks_.first(block) * packed.depth;
  }

  // A task: some images of a group, from a row of the grids on, some blocks of their results, and their planes.
  struct Task {
    const Correlation& op;
    int64_t group, image, images, row, first_block, end_block;
    float* planes;

    int64_t rows(const Grid& g) const { return std::clamp<int64_t>(g.size[0] - row, 0, op.band_); }
    // Pixels are numbered along rows and images.
    int64_t pixels(const Grid& g) const { return images * rows(g) * g.size[1]; }
  };

  void compute_band(int64_t index, float* planes) const {
    const int64_t share = index % op.shares_, band = index / op.shares_ % op.bands_, count = op.blocks_.count();
    index /= op.shares_ * op.bands_;
    const int64_t image = index / w().groups * op.images_;
    const Task t{op,
                 index % w().groups,
                 image,
                 std::min(op.images_, w().batch - image),
                 band * op.band_,
                 count * share / op.shares_,
                 count * (share + 1) / op.shares_,
                 planes};
    fill_planes(t);
    for (size_t g = 0; g < op.grids_.size(); g++)
      for (int64_t block = t.first_block; block < t.end_block; block += op.weights_[g].blocks)
        for (int64_t pixel = 0; pixel < t.pixels(op.grids_[g]); pixel += op.k_.panel_columns)
          compute_panel(t, g, block, pixel);
  }

  void fill_planes(const Task& t) const {
    const int64_t steps[] = {x().strides[2], x().strides[3]};
    float* to = t.planes;
    for (int64_t n = 0; n < t.images; n++)
      for (int64_t c = 0; c < op.sums_; c++, to += op.planes_.channel_floats())
        op.planes_.copy_image(
            op.t_, x().as<float>() + (t.image + n) * x().strides[0] + (t.group * op.sums_ + c) * x().strides[1],
            steps, t.row, to);
    std::fill_n(to, kOverread, 0.0f);  // the zeros to the right of the last row
  }

  // Computes the panel that begins at a pixel, for the row blocks from `first` on.
  void compute_panel(const Task& t, size_t g, int64_t first, int64_t pixel) const {
    const Grid& grid = op.grids_[g];
    const Weights& packed = op.weights_[g];
    const int64_t end = std::min(pixel + op.k_.panel_columns, t.pixels(grid)),
                  blocks = std::min(first + packed.blocks, t.end_block);
    Run runs[ProductKernels::kMaxColumns];
    size_t n_runs = 0;
    for_each_run(t.rows(grid), grid.size[1], pixel, end,
                 [&](int64_t n, int64_t row, int64_t column, int64_t count, int64_t at) {
               runs[n_runs++] = {t.planes + n * op.image_plane_floats() + row * op.planes_.pitch + column, at, count};
             });
    alignas(64) float sums[kMaxBlocks][ProductKernels::kMaxPanel];
    op.gathered_.for_each_part({runs, n_runs}, packed.offsets, [&](const float* part, int64_t from, int64_t depth) {
      for (int64_t b = first; b < blocks; b++) {
        const int64_t rows = op.blocks_.rows(b);
        op.gathered_.add(rows, depth, weights + packed_offset(t.group, packed, b) + from * rows, part, sums[b - first],
                           from > 0);
      }
    });
    for (int64_t b = first; b < blocks; b++)
      store_outputs(t, grid, t.group * op.rows_ + op.blocks_.first(b), op.blocks_.rows(b), pixel, end, sums[b - first]);
  }

  // Writes the rows of a block for the pixels [begin, end).
  void store_outputs(const Task& t, const Grid& g, int64_t channel, int64_t rows, int64_t begin, int64_t end,
                     const float* sums) const {
    const int64_t step = g.step[1] * y().strides[3];
    for_each_run(t.rows(g), g.size[1], begin, end,
                 [&](int64_t n, int64_t row, int64_t column, int64_t count, int64_t at) {
                   const float* from = sums + at;
                   float* to = y().as<float>() + (t.image + n) * y().strides[0] + channel * y().strides[1] +
                               (g.first[0] + (t.row + row) * g.step[0]) * y().strides[2] +
                               (g.first[1] + column * g.step[1]) * y().strides[3];
                   for (int64_t i = 0; i < rows; i++, from += op.k_.panel_columns, to += y().strides[1])
                     if (step == 1) std::copy_n(from, count, to);
                     else
                       for (int64_t x = 0; x < count; x++) to[x * step] = from[x];
                 });
  }
};

Status* Correlation::run(const Launch* launch) const {
  const Job job{launch, *this, static_cast<float*>(launch->scratch) + slots().bytes() / sizeof(float)};
  if (Status* failed = for_each_index(job, &Job::pack_weights, w.groups * blocks_.count(),
                                      sums_ * w.taps() * blocks_.max_rows()))
    return failed;
  if (sparse_)
    if (Status* failed =
            for_each_index(job, &Job::zero_output_channel, w.batch * w.groups * rows_, w.image[0] * w.image[1]))
      return failed;
  return slots().run(launch, [&](int64_t index, float* planes) { job.compute_band(index, planes); });
}

}  // namespace

int64_t choose_correlation_band(const Window& w, const Planes& planes, int64_t rows, int64_t channels,
                                const Machine& machine) {
  const int64_t tasks = std::max<int64_t>(1, w.batch * w.groups),
                row = std::max<int64_t>(1, channels * planes.count_remainders() * planes.pitch);
  const int64_t bands = std::max(ceil_div(static_cast<int64_t>(machine.threads), tasks),
                                 ceil_div(rows, std::max<int64_t>(1, max_task_floats(machine) / row - planes.halo)));
  return std::max<int64_t>(1, ceil_div(rows, bands));
}

KernelPtr prepare_correlation(const ConvolutionCode& code, const Window& window, const Planes& planes, int64_t band,
                              std::vector<Grid> grids, Summed summed, bool sparse) {
  if (is_depthwise(window)) return prepare_depthwise(code, window, planes, band, std::move(grids), sparse);
  return std::make_unique<Correlation>(code, window, planes, band, std::move(grids), summed, sparse);
}

}  // namespace thunder
