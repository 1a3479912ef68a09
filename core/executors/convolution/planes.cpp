#include "executors/convolution/planes.h"

#include <algorithm>

namespace thunder {
namespace {

int64_t round_up(int64_t n, int64_t by) { return n <= 0 ? 0 : (n + by - 1) / by; }

}  // namespace

void Planes::fit(const int64_t grid[2], const int64_t reach[2]) {
  rows = grid[0] + reach[0], pitch = grid[1] + reach[1];
  int64_t shared = reach[1];
  for (int64_t remainder = 0; remainder < stride[1]; remainder++) {
    const int64_t left = round_up(lead[1] - remainder, stride[1]), end = round_up(image[1] + lead[1] - remainder, stride[1]);
    shared = std::min({shared, left, std::max<int64_t>(0, pitch - end)});
  }
  pitch -= shared;
}

void Planes::fill_row(const float* from, int64_t step, int64_t remainder, float* to) const {
  const int64_t begin = std::min(pitch, round_up(lead[1] - remainder, stride[1]));
  const int64_t end = std::clamp(round_up(image[1] + lead[1] - remainder, stride[1]), begin, pitch);
  std::fill(to, to + begin, 0.0f);
  const int64_t apart = stride[1] * step;
  from += (begin * stride[1] + remainder - lead[1]) * step;
  if (apart == 1) std::copy(from, from + (end - begin), to + begin);
  else
    for (int64_t i = begin; i < end; i++, from += apart) to[i] = *from;
  std::fill(to + end, to + pitch, 0.0f);
}

void Planes::fill(const float* from, const int64_t steps[2], float* to) const {
  for (int64_t py = 0; py < stride[0]; py++)
    for (int64_t px = 0; px < stride[1]; px++)
      for (int64_t row = 0; row < rows; row++, to += pitch) {
        const int64_t y = row * stride[0] + py - lead[0];
        if (y < 0 || y >= image[0]) std::fill(to, to + pitch, 0.0f);
        else fill_row(from + y * steps[0], steps[1], px, to);
      }
}

}  // namespace thunder
