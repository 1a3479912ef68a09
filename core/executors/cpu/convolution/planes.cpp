#include "executors/cpu/convolution/planes.h"

#include <algorithm>
#include <cstring>

#include "executors/cpu/tiling.h"

namespace thunder {
namespace {

// How many of the positions 0, by, 2 by ... are less than n.
int64_t count_positions_below(int64_t n, int64_t by) { return n <= 0 ? 0 : ceil_div(n, by); }

}  // namespace

void Planes::choose_sizes(const int64_t grid[2], const int64_t halo_size[2]) {
  halo = halo_size[0], pitch = grid[1] + halo_size[1];
  set_rows(grid[0]);
  int64_t shared = halo_size[1];
  for (int64_t remainder = 0; remainder < stride[1]; remainder++) {
    const int64_t left = count_positions_below(padding[1] - remainder, stride[1]),
                  end = count_positions_below(image[1] + padding[1] - remainder, stride[1]);
    shared = std::min({shared, left, std::max<int64_t>(0, pitch - end)});
  }
  pitch -= shared;
}

Planes::Inside Planes::inside(int64_t remainder) const {
  const int64_t begin = std::min(pitch, count_positions_below(padding[1] - remainder, stride[1]));
  return {begin, std::clamp(count_positions_below(image[1] + padding[1] - remainder, stride[1]), begin, pitch)};
}

void Planes::copy_image(const WinogradKernels& transforms, const float* from, const int64_t steps[2], int64_t first,
                        float* to, bool zeros) const {
  // Two planes at a time, of which the one with the first pixel is `at[0]`.
  const int64_t together = stride[1] == 2 && kept[1] == 2 && steps[1] == 1 ? 2 : 1, apart = stride[1] * steps[1];
  for (int64_t py = 0; py < kept[0]; py++)
    for (int64_t px = 0; px < kept[1]; px += together, to += together * plane_floats()) {
      const int64_t which[] = {together == 2 ? padding[1] % 2 : px, 1 - padding[1] % 2};
      const Inside in[] = {inside(which[0]), inside(which[1])};
      const int64_t pixel = in[0].begin * stride[1] + which[0] - padding[1], count = in[0].end - in[0].begin;
      for (int64_t row = 0; row < rows; row++) {
        const int64_t y = (first + row) * stride[0] + py - padding[0];
        const bool outside = y < 0 || y >= image[0];
        float* const planes = to + row * pitch;
        float* at[] = {planes + which[0] % together * plane_floats(), planes + which[1] % together * plane_floats()};
        for (int64_t i = 0; i < together && zeros; i++) {
          std::fill(at[i], at[i] + (outside ? pitch : in[i].begin), 0.0f);
          if (!outside) std::fill(at[i] + in[i].end, at[i] + pitch, 0.0f);
        }
        if (outside) continue;
        const float* pixels = from + y * steps[0] + pixel * steps[1];
        float* line = at[0] + in[0].begin;
        if (together == 2) {
          const int64_t pairs = in[1].end - in[1].begin;
          transforms.split(pixels, pairs, line, at[1] + in[1].begin);
          if (count > pairs) line[pairs] = pixels[2 * pairs];
        } else {
          copy_row(pixels, apart, count, line);
        }
      }
    }
}

// Rows are short: a call of memcpy takes longer than most of them. What remains of the last few is copied twice.
void copy_row(const float* from, int64_t step, int64_t count, float* to) {
  constexpr int64_t kFew = 4;
  if (step != 1 || count < kFew) {
    for (int64_t i = 0; i < count; i++) to[i] = from[i * step];
    return;
  }
  for (int64_t i = 0; i + kFew <= count; i += kFew) std::memcpy(to + i, from + i, kFew * sizeof(float));
  std::memcpy(to + count - kFew, from + count - kFew, kFew * sizeof(float));
}

void copy_channels_last(const WinogradKernels& transforms, const float* from, int64_t channel_step, int64_t pixel_step,
                        int64_t channels, int64_t pixels, float* to, int64_t distance, bool vectors) {
  if (vectors && pixel_step == 1) return transforms.copy_transposed(from, channel_step, channels, pixels, to, distance);
  for (int64_t x = 0; x < pixels; x++)
    for (int64_t c = 0; c < channels; c++) to[x * distance + c] = from[c * channel_step + x * pixel_step];
}

}  // namespace thunder
