// dx[c, pixel] = sum over (o, tap) of weight[o, c, tap] dy[o, (pixel + padding - tap * dilation) / stride] where the
// division is exact: for each remainder of the stride, the pixels form a grid that uses the same taps.
#include <algorithm>

#include "executors/convolution/correlation.h"
#include "executors/convolution/sites.h"
#include "executors/convolution/winograd.h"

namespace thunder {
namespace {

// Along one axis: the pixels of a remainder, which of the kernel's taps they use, and the first row of dy.
struct Seen {
  int64_t tap, from;
};
struct Remainder {
  int64_t at;
  std::vector<Seen> taps;
};
// The remainders that use some tap.
std::vector<Remainder> remainders(const Window& w, int axis) {
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

std::unique_ptr<Site> convolution_input_grad(const ConvolutionCode& code, const NodeView& v, size_t* scratch) {
  const Window w(shape_out(v), shape_in(v, 1), shape_in(v, 0), v.node, 3);
  if (Winograd::pays(w)) return Winograd::input_grad(code, w, scratch);
  const std::vector<Remainder> seen[] = {remainders(w, 0), remainders(w, 1)};
  Planes planes;
  int64_t largest[2], reach[2];
  bool sparse = false;
  for (int i = 0; i < 2; i++) {
    int64_t least = 0, most = 0;
    for (const Remainder& r : seen[i])
      for (const Seen& s : r.taps) least = std::min(least, s.from), most = std::max(most, s.from);
    planes.image[i] = w.out[i], planes.stride[i] = planes.kept[i] = 1, planes.lead[i] = -least;
    largest[i] = (w.image[i] + w.stride[i] - 1) / w.stride[i];
    reach[i] = most - least;
    sparse = sparse || static_cast<int64_t>(seen[i].size()) < std::min(w.stride[i], w.image[i]);
  }
  planes.fit(largest, reach);
  const int64_t band = Correlation::band(w, planes, largest[0], w.outputs, static_cast<int64_t>(code.machine.threads));
  planes.take(band);
  if (w.outputs * planes.channel() > kMostOffset) return nullptr;
  std::vector<Grid> grids;
  for (const Remainder& y : seen[0])
    for (const Remainder& x : seen[1]) {
      Grid& g = grids.emplace_back();
      g.first[0] = y.at, g.first[1] = x.at;
      for (int i = 0; i < 2; i++)
        g.size[i] = (w.image[i] - g.first[i] + w.stride[i] - 1) / w.stride[i], g.step[i] = w.stride[i];
      for (const Seen& down : y.taps)
        for (const Seen& right : x.taps) {
          g.taps.push_back(down.tap * w.kernel[1] + right.tap);
          g.places.push_back((down.from + planes.lead[0]) * planes.pitch + right.from + planes.lead[1]);
        }
    }
  auto site = std::make_unique<Correlation>(code, w, planes, band, std::move(grids), Correlation::outputs, sparse);
  *scratch = site->scratch();
  return site;
}

}  // namespace thunder
