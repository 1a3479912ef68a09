#include "executors/convolution/correlation.h"

#include <algorithm>

#include "executors/convolution/phases.h"

namespace thunder {
namespace {

// A task is so many panels and blocks of rows: panels' planes and a block's weights stay in the second-level cache.
constexpr int64_t kPanels = 8, kBlocks = 8;

}  // namespace

Correlation::Correlation(const Kernels& kernels, const Window& window, Planes planes, std::vector<Grid> grids, Summed summed, bool sparse)
    : kernels_(kernels), w(window), planes_(planes), grids_(std::move(grids)), summed_(summed), sums_(summed == inputs ? w.channels : w.outputs),
      rows_(summed == inputs ? w.outputs : w.channels), blocks_(rows_, kernels_.panel_rows), sparse_(sparse) {
  int64_t at = 0;
  for (const Grid& g : grids_) {
    Weights& packed = weights_.emplace_back();
    packed.at = at, packed.depth = sums_ * static_cast<int64_t>(g.taps.size());
    for (int64_t c = 0; c < sums_; c++)
      for (int64_t place : g.places) packed.offsets.push_back(static_cast<int32_t>(c * planes_.channel() + place));
    at += rows_ * packed.depth;
  }
  images_ = images_at_a_time(w.batch, image_planes());
}

int64_t Correlation::group_weights() const { return weights_.empty() ? 0 : weights_.back().at + rows_ * weights_.back().depth; }

size_t Correlation::scratch() const {
  return static_cast<size_t>(images_ * image_planes() + kBeyond + w.groups * group_weights()) * sizeof(float);
}

// One call.
struct Correlation::Job : Phases<Job> {
  const Correlation& site;
  float *planes, *weights;
  int64_t image = 0, images = 0;  // whose planes are there

  const Window& w() const { return site.w; }
  const Buffer& x() const { return launch->inputs[0]; }
  const Buffer& weight() const { return launch->inputs[1]; }
  const Buffer& y() const { return launch->outputs[0]; }

  // A channel of the result.
  void clear(int64_t index) const {
    const int64_t size = y().shape[2] * y().shape[3];
    std::fill_n(y().as<float>() + index * size, size, 0.0f);
  }

  void fill(int64_t index) const {
    const int64_t channels = w().groups * site.sums_, n = index / channels, c = index % channels;
    const int64_t steps[] = {x().strides[2], x().strides[3]};
    site.planes_.fill(x().as<float>() + (image + n) * x().strides[0] + c * x().strides[1], steps, planes + index * site.planes_.channel());
  }

  void pack(int64_t index) const {
    const int64_t block = index % site.blocks_.count(), group = index / site.blocks_.count();
    for (size_t g = 0; g < site.grids_.size(); g++) pack_block(site.grids_[g], group, block, weights + place(group, site.weights_[g], block));
  }
  // [channel, tap, row]
  void pack_block(const Grid& grid, int64_t group, int64_t block, float* to) const {
    const int64_t *strides = weight().strides, row = strides[1 - site.summed_], rows = site.blocks_.rows(block);
    const float* from = weight().as<float>() + group * w().outputs * strides[0] + site.blocks_.first(block) * row;
    for (int64_t c = 0; c < site.sums_; c++, from += strides[site.summed_])
      for (int64_t tap : grid.taps) {
        const float* at = from + tap / w().kernel[1] * strides[2] + tap % w().kernel[1] * strides[3];
        for (int64_t i = 0; i < rows; i++) *to++ = at[i * row];
      }
  }

  int64_t place(int64_t group, const Weights& packed, int64_t block) const {
    return group * site.group_weights() + packed.at + site.blocks_.first(block) * packed.depth;
  }

  // Pixels of a grid are numbered along the rows of the planes; those between two rows of outputs are summed for nothing.
  int64_t panels(const Grid& g) const {
    return g.size[0] && g.size[1] ? parts((g.size[0] - 1) * site.planes_.pitch + g.size[1], site.kernels_.panel_columns) : 0;
  }
  int64_t tasks(const Grid& g) const { return parts(panels(g), kPanels) * parts(site.blocks_.count(), kBlocks); }
  int64_t tasks() const {
    int64_t n = 0;
    for (const Grid& g : site.grids_) n += tasks(g);
    return n * images * w().groups;
  }

  void sum(int64_t index) const {
    const int64_t each = tasks() / (images * w().groups), n = index / each / w().groups, group = index / each % w().groups;
    int64_t rest = index % each;
    size_t g = 0;
    while (rest >= tasks(site.grids_[g])) rest -= tasks(site.grids_[g++]);
    const Grid& grid = site.grids_[g];
    const int64_t chunks = parts(panels(grid), kPanels), panel = rest % chunks * kPanels, block = rest / chunks * kBlocks;
    for (int64_t b = block; b < std::min(block + kBlocks, site.blocks_.count()); b++)
      for (int64_t p = panel; p < std::min(panel + kPanels, panels(grid)); p++) sum_panel(g, n, group, b, p);
  }

  void sum_panel(size_t g, int64_t n, int64_t group, int64_t block, int64_t panel) const {
    const Kernels& k = site.kernels_;
    const Weights& packed = site.weights_[g];
    alignas(64) float sums[Kernels::kMostPanel];
    const int64_t first = panel * k.panel_columns;
    const float* b = planes + (n * w().groups + group) * site.sums_ * site.planes_.channel() + first;
    const int64_t row = site.blocks_.first(block), rows = site.blocks_.rows(block);
    k.panel(rows, packed.depth, weights + place(group, packed, block), b, packed.offsets.data(), sums, false);
    float* to = y().as<float>() + (image + n) * y().strides[0] + (group * site.rows_ + row) * y().strides[1];
    for (int64_t i = 0; i < rows; i++, to += y().strides[1])
      write(site.grids_[g], first, sums + i * k.panel_columns, to);
  }

  // The panel's pixels that are outputs.
  void write(const Grid& g, int64_t first, const float* sums, float* to) const {
    const int64_t pitch = site.planes_.pitch, columns = site.kernels_.panel_columns, step = g.step[1] * y().strides[3];
    for (int64_t done = 0; done < columns;) {
      const int64_t row = (first + done) / pitch, column = (first + done) % pitch;
      if (row >= g.size[0]) return;
      const int64_t run = std::min(columns - done, g.size[1] - column);
      float* at = to + (g.first[0] + row * g.step[0]) * y().strides[2] + (g.first[1] + column * g.step[1]) * y().strides[3];
      if (step == 1) std::copy(sums + done, sums + done + std::max<int64_t>(0, run), at);
      else
        for (int64_t i = 0; i < run; i++) at[i * step] = sums[done + i];
      done += pitch - column;
    }
  }
};

Status* Correlation::run(const Launch* launch) const {
  auto* planes = static_cast<float*>(launch->scratch);
  Job job{{launch}, *this, planes, planes + images_ * image_planes() + kBeyond};
  if (Status* failed = job.each<&Job::pack>(w.groups * blocks_.count(), sums_ * w.taps() * blocks_.most())) return failed;
  if (sparse_)
    if (Status* failed = job.each<&Job::clear>(w.batch * w.groups * rows_, w.image[0] * w.image[1])) return failed;
  for (; job.image < w.batch; job.image += images_) {
    job.images = std::min(images_, w.batch - job.image);
    std::fill_n(planes + job.images * image_planes(), kBeyond, 0.0f);  // the zeros on the right of the last row
    if (Status* failed = job.each<&Job::fill>(job.images * w.groups * sums_, planes_.channel())) return failed;
    if (Status* failed = job.each<&Job::sum>(job.tasks(), sums_ * w.taps() * kPanels)) return failed;
  }
  return nullptr;
}

}  // namespace thunder
