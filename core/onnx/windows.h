// Shared by convolutions and pools: the windows that slide over an input.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// The numbers of a window, by spatial dim.
struct Windows {
  std::vector<int64_t> kernel, strides, dilations, begin, end;

  size_t dims() const { return kernel.size(); }
  bool symmetric() const { return begin == end; }
  bool has_padding() const;
  int64_t extent(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

// Reads the attributes, for an input of this shape. `kernel`: used if that attribute is absent or the op has none.
Windows windows_of(Node& n, const Shape& input, std::vector<int64_t> kernel = {});

// Pads x with `value` before and behind each windowed dim.
Tensor* pad_tensor(Node& n, Tensor* x, std::span<const int64_t> begin, std::span<const int64_t> end, double value);

// "conv1d" to "conv3d".
std::string op_name_with_dims(std::string_view op, size_t dims);

}  // namespace thunder::onnx
