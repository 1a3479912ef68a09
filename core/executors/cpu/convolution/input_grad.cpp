// dx[c, pixel] = sum over (o, tap) of weight[o, c, tap] dy[o, (pixel + padding - tap * dilation) / stride] where the
// division is exact: for each remainder of the stride, the pixels form a grid that uses the same taps.
#include <algorithm>

#include "executors/cpu/convolution/correlation.h"
#include "executors/cpu/convolution/ops.h"

namespace thunder {
namespace {

// Along one axis: a tap of the kernel, and the row of dy that the first pixel reads under it.
struct TapRow {
  int64_t tap, row;
};
// The pixels of one remainder of the stride, `at`, and the taps that they use.
struct Remainder {
  int64_t at;
  std::vector<TapRow> taps;
};
// The remainders that use some tap.
std::vector<Remainder> find_used_remainders(const Window& w, int axis) {
  std::vector<Remainder> out;
  for (int64_t tap = 0; tap < w.kernel[axis]; tap++) {
    const int64_t stride = w.stride[axis], before = tap * w.dilation[axis] - w.padding[axis],
                  at = (before % stride + stride) % stride;
    if (at >= w.image[axis]) continue;
    auto found = std::find_if(out.begin(), out.end(), [&](const Remainder& r) { return r.at == at; });
    if (found == out.end()) found = out.insert(out.end(), {at, {}});
    found->taps.push_back({tap, (at - before) / stride});
  }
  return out;
}

}  // namespace

KernelPtr prepare_convolution_input_grad(const ConvolutionCode& code, const NodeView& v) {
  const Window w(shape_out(v), shape_in(v, 1), shape_in(v, 0), v.node, 3);
  if (winograd_is_profitable(w)) return prepare_winograd_input_grad(code, w);
  const std::vector<Remainder> seen[] = {find_used_remainders(w, 0), find_used_remainders(w, 1)};
  Planes planes;
  int64_t largest[2], halo[2];
  bool sparse = false;
  for (int i = 0; i < 2; i++) {
    int64_t least = 0, most = 0;
    for (const Remainder& r : seen[i])
      for (const TapRow& s : r.taps) least = std::min(least, s.row), most = std::max(most, s.row);
    planes.image[i] = w.out[i], planes.stride[i] = planes.kept[i] = 1, planes.padding[i] = -least;
    largest[i] = (w.image[i] + w.stride[i] - 1) / w.stride[i];
    halo[i] = most - least;
    sparse = sparse || static_cast<int64_t>(seen[i].size()) < std::min(w.stride[i], w.image[i]);
  }
  planes.choose_sizes(largest, halo);
  const int64_t band = choose_correlation_band(w, planes, largest[0], w.outputs, code.machine);
  planes.set_rows(band);
  if (w.outputs * planes.channel_floats() > kMaxOffset) return nullptr;
  std::vector<Grid> grids;
  for (const Remainder& y : seen[0])
    for (const Remainder& x : seen[1]) {
      Grid& g = grids.emplace_back();
      g.first[0] = y.at, g.first[1] = x.at;
      for (int i = 0; i < 2; i++)
        g.size[i] = (w.image[i] - g.first[i] + w.stride[i] - 1) / w.stride[i], g.step[i] = w.stride[i];
      for (const TapRow& down : y.taps)
        for (const TapRow& right : x.taps) {
          g.taps.push_back(down.tap * w.kernel[1] + right.tap);
          g.tap_offsets.push_back((down.row + planes.padding[0]) * planes.pitch + right.row + planes.padding[1]);
        }
    }
  return prepare_correlation(code, w, planes, band, std::move(grids), Summed::outputs, sparse);
}

}  // namespace thunder
