#include "executors/cpu/convolution/planes.h"

#include <algorithm>

#include "executors/cpu/tiling.h"

namespace thunder {
namespace {

// How many of the positions 0, by, 2 by ... are less than n.
int64_t positions_below(int64_t n, int64_t by) { return n <= 0 ? 0 : ceil_div(n, by); }

}  // namespace

void Planes::fit(const int64_t grid[2], const int64_t halo_size[2]) {
  halo = halo_size[0], pitch = grid[1] + halo_size[1];
  set_rows(grid[0]);
  int64_t shared = halo_size[1];
  for (int64_t remainder = 0; remainder < stride[1]; remainder++) {
    const int64_t left = positions_below(padding[1] - remainder, stride[1]),
                  end = positions_below(image[1] + padding[1] - remainder, stride[1]);
    shared = std::min({shared, left, std::max<int64_t>(0, pitch - end)});
  }
  pitch -= shared;
}

void Planes::fill_row(const float* from, int64_t step, int64_t remainder, float* to) const {
  const int64_t begin = std::min(pitch, positions_below(padding[1] - remainder, stride[1]));
  const int64_t end = std::clamp(positions_below(image[1] + padding[1] - remainder, stride[1]), begin, pitch);
  std::fill(to, to + begin, 0.0f);
  const int64_t apart = stride[1] * step;
  from += (begin * stride[1] + remainder - padding[1]) * step;
  if (apart == 1) std::copy(from, from + (end - begin), to + begin);
  else
    for (int64_t i = begin; i < end; i++, from += apart) to[i] = *from;
  std::fill(to + end, to + pitch, 0.0f);
}

void Planes::fill(const WinogradKernels& transforms, const float* from, const int64_t steps[2], int64_t first,
                  float* to) const {
  const bool pairs = stride[1] == 2 && kept[1] == 2 && steps[1] == 1;
  for (int64_t py = 0; py < kept[0]; py++, to += kept[1] * plane())
    for (int64_t row = 0; row < rows; row++) {
      const int64_t y = (first + row) * stride[0] + py - padding[0];
      float* at = to + row * pitch;
      const bool inside = y >= 0 && y < image[0];
      if (inside && pairs) split_row(transforms, from + y * steps[0], image[1], padding[1], pitch, at, at + plane());
      else
        for (int64_t px = 0; px < kept[1]; px++, at += plane())
          if (inside) fill_row(from + y * steps[0], steps[1], px, at);
          else std::fill(at, at + pitch, 0.0f);
    }
}

void copy_channels_last(const WinogradKernels& transforms, const float* from, int64_t channel_step, int64_t pixel_step,
                        int64_t channels, int64_t pixels, float* to, int64_t distance, bool vectors) {
  if (vectors && pixel_step == 1) return transforms.copy_transposed(from, channel_step, channels, pixels, to, distance);
  for (int64_t x = 0; x < pixels; x++)
    for (int64_t c = 0; c < channels; c++) to[x * distance + c] = from[c * channel_step + x * pixel_step];
}

void split_row(const WinogradKernels& transforms, const float* row, int64_t width, int64_t padding, int64_t count,
               float* even, float* odd) {
  constexpr int64_t kPairs = 256;  // at a time
  float line[2 * kPairs];
  for (int64_t i = 0; i < count; i += kPairs) {
    const int64_t pairs = std::min(kPairs, count - i), first = 2 * i - padding;  // first: the pixel at line[0]
    const int64_t begin = std::clamp<int64_t>(-first, 0, 2 * pairs), end = std::clamp(width - first, begin, 2 * pairs);
    std::fill(line, line + begin, 0.0f);
    std::copy(row + first + begin, row + first + end, line + begin);
    std::fill(line + end, line + 2 * pairs, 0.0f);
    transforms.split(line, pairs, even + i, odd + i);
  }
}

}  // namespace thunder
