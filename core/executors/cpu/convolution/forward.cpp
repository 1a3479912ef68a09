// y[o, pixel] = sum over (c, tap) of weight[o, c, tap] x[c, pixel * stride + tap * dilation - padding].
#include "executors/cpu/convolution/correlation.h"
#include "executors/cpu/convolution/ops.h"

namespace thunder {

Planes forward_planes(const Window& w, Grid& grid) {
  Planes planes;
  int64_t halo[2];
  for (int i = 0; i < 2; i++) {
    planes.image[i] = w.image[i], planes.stride[i] = w.stride[i], planes.padding[i] = w.padding[i];
    grid.size[i] = w.out[i];
    const int64_t span = (w.kernel[i] - 1) * w.dilation[i];
    halo[i] = span / w.stride[i], planes.kept[i] = std::min(w.stride[i], span + 1);
  }
  planes.choose_sizes(grid.size, halo);
  return planes;
}

void add_forward_taps(const Window& w, const Planes& planes, Grid& grid) {
  for (int64_t tap = 0; tap < w.taps(); tap++) {
    const int64_t y = tap / w.kernel[1] * w.dilation[0], x = tap % w.kernel[1] * w.dilation[1];
    const int64_t plane = y % w.stride[0] * planes.kept[1] + x % w.stride[1];
    grid.taps.push_back(tap);
    grid.tap_offsets.push_back(plane * planes.plane_floats() + y / w.stride[0] * planes.pitch + x / w.stride[1]);
  }
}

KernelPtr prepare_convolution(const ConvolutionCode& code, const NodeView& v) {
  const Window w(shape_in(v, 0), shape_in(v, 1), shape_out(v), v.node, 2);
  if (winograd_is_profitable(w)) return prepare_winograd(code, w);
  Grid grid;
  Planes planes = forward_planes(w, grid);
  const int64_t band = choose_correlation_band(w, planes, grid.size[0], w.channels, code.machine);
  planes.set_rows(band);
  if (w.channels * planes.channel_floats() > kMaxOffset) return nullptr;
  add_forward_taps(w, planes, grid);
  return prepare_correlation(code, w, planes, band, {std::move(grid)}, Summed::inputs, false);
}

}  // namespace thunder
