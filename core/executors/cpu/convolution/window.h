// The geometry of one convolution.
#pragma once

#include "ir/shape.h"
#include "ir/trace.h"
#include "ops/pair.h"

namespace thunder {

// Channels and outputs are those of a group. Pairs are along y, along x.
struct Window {
  int64_t batch, groups, channels, outputs;
  std::array<int64_t, 2> image, kernel, out, stride, padding, dilation;

  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t pixels() const { return out[0] * out[1]; }

  // `first`: the index of the argument stride, which padding, dilation and groups follow.
  Window(const Shape& x, const Shape& w, const Shape& y, const Node& node, size_t first) {
    const Sizes size = concrete(x), weight = concrete(w), result = concrete(y);
    groups = node.args[first + 3].i;
    batch = size[0], channels = weight[1], outputs = weight[0] / groups;
    stride = pair_of(node.args[first]), padding = pair_of(node.args[first + 1]),
    dilation = pair_of(node.args[first + 2]);
    for (size_t i = 0; i < 2; i++) image[i] = size[2 + i], kernel[i] = weight[2 + i], out[i] = result[2 + i];
  }
};

}  // namespace thunder
