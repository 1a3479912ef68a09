#include "executors/convolution/winograd.h"

#include <algorithm>

#include "base/cpu_count.h"
#include "executors/convolution/phases.h"

namespace thunder {
namespace {

constexpr int64_t kPoints = Transforms::kPoints, kTaps = Transforms::kTaps, kLanes = Transforms::kMostLanes;

// Fewer channels on either side, or fewer tiles, do not pay for the transforms. Tiles are found through offsets of 32 bits.
constexpr int64_t kLeastChannels = 16, kLeastTiles = 64, kMostPixels = kMostOffset / Kernels::kMostPanel;
// The tiles of a task, with all channels: floats that stay in the second-level cache.
constexpr int64_t kTaskFloats = 1 << 17;

}  // namespace

bool Winograd::pays(const Window& w) {
  for (int i = 0; i < 2; i++)
    if (w.kernel[i] != 3 || w.stride[i] != 1 || w.dilation[i] != 1 || w.padding[i] > 2 || w.out[i] < 4) return false;
  if (std::max(w.pixels(), w.image[0] * w.image[1]) > kMostPixels) return false;
  return std::min(w.channels, w.outputs) >= kLeastChannels && w.batch * parts(w.out[0], 2) * parts(w.out[1], 2) >= kLeastTiles;
}

std::unique_ptr<Site> Winograd::forward(const ConvolutionCode& code, const Window& w, size_t* scratch) {
  std::unique_ptr<Winograd> site(new Winograd(code, {w.batch, w.groups, w.channels, w.outputs, {w.image[0], w.image[1]}, {w.out[0], w.out[1]},
                                                     {w.padding[0], w.padding[1]}, 1, false}));
  *scratch = site->scratch();
  return site;
}

// A correlation of dy with the taps the other way round.
std::unique_ptr<Site> Winograd::input_grad(const ConvolutionCode& code, const Window& w, size_t* scratch) {
  std::unique_ptr<Winograd> site(new Winograd(code, {w.batch, w.groups, w.outputs, w.channels, {w.out[0], w.out[1]}, {w.image[0], w.image[1]},
                                                     {2 - w.padding[0], 2 - w.padding[1]}, 0, true}));
  *scratch = site->scratch();
  return site;
}

Winograd::Winograd(const ConvolutionCode& code, const Shapes& shapes)
    : k_(code.kernels), t_(code.transforms), s_(shapes), threads_(static_cast<int64_t>(thread_count())), blocks_(s_.rows, k_.panel_rows),
      tiles_(std::clamp<int64_t>(kTaskFloats / (kPoints * s_.sums) / k_.panel_columns, 1, 4) * k_.panel_columns) {
  const int64_t reach[2] = {1, 1};
  for (int i = 0; i < 2; i++) {
    grid_[i] = parts(s_.out[i], 2);
    planes_.image[i] = s_.image[i], planes_.stride[i] = 2, planes_.lead[i] = s_.lead[i];
  }
  planes_.fit(grid_, reach);
  images_ = images_at_a_time(s_.batch, image_planes());
  for (int64_t c = 0; c < s_.sums; c++) offsets_.push_back(static_cast<int32_t>(c * tiles_));
}

// One call: planes of the images, weights, and a task's tiles in each slot.
struct Winograd::Job : Phases<Job> {
  const Winograd& site;
  float *planes, *weights;
  int64_t image = 0, images = 0;  // whose planes are there

  const Shapes& s() const { return site.s_; }

  void fill(int64_t index) const {
    const Buffer& x = launch->inputs[0];
    const int64_t channels = s().groups * s().sums, n = index / channels, c = index % channels, steps[] = {x.strides[2], x.strides[3]};
    const float* from = x.as<float>() + (image + n) * x.strides[0] + c * x.strides[1];
    float* to = planes + index * site.planes_.channel();
    if (steps[1] != 1) return site.planes_.fill(from, steps, to);
    const Planes& p = site.planes_;
    for (int64_t row = 0; row < 2 * p.rows; row++) fill_row(from, row, steps[0], to + row % 2 * 2 * p.plane() + row / 2 * p.pitch);
  }
  // As Planes::fill does, for the two planes that have this row of the image.
  void fill_row(const float* from, int64_t row, int64_t step, float* to) const {
    constexpr int64_t kColumns = 256;  // of a plane at a time
    const int64_t y = row - s().lead[0], pitch = site.planes_.pitch, width = y < 0 || y >= s().image[0] ? 0 : s().image[1];
    float line[2 * kColumns];
    for (int64_t x = 0; x < pitch; x += kColumns) {
      const int64_t columns = std::min(kColumns, pitch - x), first = 2 * x - s().lead[1];  // the pixel at line[0]
      const int64_t begin = std::clamp<int64_t>(-first, 0, 2 * columns), end = std::clamp(width - first, begin, 2 * columns);
      std::fill(line, line + begin, 0.0f);
      std::copy(from + y * step + first + begin, from + y * step + first + end, line + begin);
      std::fill(line + end, line + 2 * columns, 0.0f);
      site.t_.split(line, columns, to + x, to + x + site.planes_.plane());
    }
  }

  float* place(int64_t group, int64_t point, int64_t block) const {
    return weights + (group * kPoints + point) * s().rows * s().sums + site.blocks_.first(block) * s().sums;
  }

  // A block's rows at each point, [channel, row].
  void pack(int64_t index) const {
    const Buffer& weight = launch->inputs[1];
    const int64_t block = index % site.blocks_.count(), group = index / site.blocks_.count(), rows = site.blocks_.rows(block);
    const int64_t* strides = weight.strides, row = strides[1 - s().summed], outputs = s().summed ? s().rows : s().sums;
    const float* from = weight.as<float>() + group * outputs * strides[0] + site.blocks_.first(block) * row;
    alignas(64) float taps[kTaps * kLanes] = {}, made[kPoints * kLanes];
    for (int64_t c = 0; c < s().sums; c++, from += strides[s().summed]) {
      for (int64_t tap = 0; tap < kTaps; tap++) {
        const float* at = from + tap / 3 * strides[2] + tap % 3 * strides[3];
        float* to = taps + (s().mirrored ? kTaps - 1 - tap : tap) * kLanes;
        for (int64_t i = 0; i < rows; i++) to[i] = at[i * row];
      }
      site.t_.weights(taps, made);
      for (int64_t point = 0; point < kPoints; point++) std::copy_n(made + point * kLanes, rows, place(group, point, block) + c * rows);
    }
  }

  // For the runs of tiles [first, end), counted along rows and images, that lie side by side: f(image, row, column, how many, from first).
  template <class F>
  void each_run(int64_t first, int64_t end, const F& f) const {
    const int64_t rows = site.grid_[0], columns = site.grid_[1];
    for (int64_t at = first, run; at < end; at += run) {
      run = std::min(end - at, columns - at % columns);
      f(at / columns / rows, at / columns % rows, at % columns, run, at - first);
    }
  }

  void task(int64_t index, float* tiles) const {
    const int64_t chunks = site.chunks(images), group = index / chunks, first = index % chunks * site.tiles_;
    const int64_t end = std::min(first + site.tiles_, images * site.grid_[0] * site.grid_[1]);
    transform(group, first, end, tiles);
    for (int64_t block = 0; block < site.blocks_.count(); block++)
      for (int64_t panel = first; panel < end; panel += site.k_.panel_columns)
        multiply(group, block, tiles + (panel - first), panel, std::min(end, panel + site.k_.panel_columns));
  }

  // What a run writes past its end is overwritten by the next run, channel, or is beyond the point's last tile.
  void transform(int64_t group, int64_t first, int64_t end, float* tiles) const {
    const Planes& p = site.planes_;
    for (int64_t c = 0; c < s().sums; c++)
      each_run(first, end, [&](int64_t n, int64_t row, int64_t column, int64_t count, int64_t at) {
        const float* plane = planes + ((n * s().groups + group) * s().sums + c) * p.channel() + row * p.pitch + column;
        const float* pixels[16];
        for (int64_t i = 0; i < 16; i++) pixels[i] = plane + (i / 4 % 2 * 2 + i % 2) * p.plane() + i / 8 * p.pitch + i % 4 / 2;
        site.t_.tiles(pixels, count, tiles + c * site.tiles_ + at, site.point());
      });
  }

  void multiply(int64_t group, int64_t block, const float* tiles, int64_t first, int64_t end) const {
    const Kernels& k = site.k_;
    const int64_t rows = site.blocks_.rows(block);
    alignas(64) float sums[kPoints * Kernels::kMostPanel];
    for (int64_t point = 0; point < kPoints; point++)
      k.panel(rows, s().sums, place(group, point, block), tiles + point * site.point(), site.offsets_.data(),
              sums + point * Kernels::kMostPanel, false);
    for (int64_t i = 0; i < rows; i++) write(group * s().rows + site.blocks_.first(block) + i, sums + i * k.panel_columns, first, end);
  }

  void write(int64_t channel, const float* sums, int64_t first, int64_t end) const {
    const Buffer& y = launch->outputs[0];
    alignas(64) float made[2][2 * Kernels::kMostPanel];
    float* const both[] = {made[0], made[1]};
    site.t_.outputs(sums, Kernels::kMostPanel, end - first, both);
    each_run(first, end, [&](int64_t n, int64_t row, int64_t column, int64_t count, int64_t at) {
      float* to = y.as<float>() + (image + n) * y.strides[0] + channel * y.strides[1] + 2 * row * y.strides[2] + 2 * column * y.strides[3];
      const int64_t columns = std::min(2 * count, s().out[1] - 2 * column), down = std::min<int64_t>(2, s().out[0] - 2 * row);
      for (int64_t i = 0; i < down; i++, to += y.strides[2])
        if (y.strides[3] == 1) std::copy_n(made[i] + 2 * at, columns, to);
        else
          for (int64_t x = 0; x < columns; x++) to[x * y.strides[3]] = made[i][2 * at + x];
    });
  }
};

size_t Winograd::scratch() const {
  return slots(images_).bytes() + static_cast<size_t>(images_ * image_planes() + kBeyond + weights()) * sizeof(float);
}

Status* Winograd::run(const Launch* launch) const {
  float* planes = static_cast<float*>(launch->scratch) + slots(images_).bytes() / sizeof(float);
  Job job{{launch}, *this, planes, planes + images_ * image_planes() + kBeyond};
  if (Status* failed = job.each<&Job::pack>(s_.groups * blocks_.count(), kPoints * s_.sums * blocks_.most())) return failed;
  for (; job.image < s_.batch; job.image += images_) {
    job.images = std::min(images_, s_.batch - job.image);
    std::fill_n(planes + job.images * image_planes(), kBeyond, 0.0f);  // the zeros on the right of the last row
    if (Status* failed = job.each<&Job::fill>(job.images * s_.groups * s_.sums, planes_.channel())) return failed;
    const auto task = [&](int64_t index, float* tiles) -> Status* { return job.task(index, tiles), nullptr; };
    if (Status* failed = slots(job.images).run(launch, task)) return failed;
  }
  return nullptr;
}

}  // namespace thunder
