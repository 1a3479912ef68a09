// Prims of matrix products, convolutions and pooling, and their gradients.
#include <algorithm>
#include <array>
#include <optional>

#include "onnx/export/rows.h"
#include "ops/pair.h"

namespace thunder::onnx_export {
namespace {

using Pair = std::array<int64_t, 2>;
std::vector<int64_t> list_of(Pair p) {
  return {p[0], p[1]};
}

struct Window {
  Pair stride, padding, dilation;
  int64_t groups;
};
Window window_of(const Line& l, size_t at) {
  return {pair_of(l.arg(at)), pair_of(l.arg(at + 1)), pair_of(l.arg(at + 2)), l.arg(at + 3).i};
}
Attrs attrs_of(Pair stride, Pair padding, Pair dilation, int64_t groups) {
  return {attr("strides", list_of(stride)), attr("dilations", list_of(dilation)), attr("group", groups),
          attr("pads", std::vector<int64_t>{padding[0], padding[1], padding[0], padding[1]})};
}

bool conv2d(Line& l) {
  const Window w = window_of(l, 2);
  l.give(l.make("Conv", {l.in(0), l.in(1)}, attrs_of(w.stride, w.padding, w.dilation, w.groups)));
  return true;
}

int64_t require_constant(Dim d) {
  if (!d.constant()) fail(Code::unimplemented, "its window is written for sizes that do not vary");
  return d.value();
}

// Pixels that no window covers are zeros at the end.
bool conv2d_input_grad(Line& l) {
  const Window w = window_of(l, 3);
  const Shape &dy = l.type(0).shape, &kernel = l.type(1).shape, &dx = l.result().shape;
  Attrs attrs = attrs_of(w.stride, w.padding, w.dilation, w.groups);
  std::vector<int64_t> behind;
  for (size_t i = 0; i < 2; i++) {
    const int64_t reach = (require_constant(kernel[2 + i]) - 1) * w.dilation[i] + 1;
    behind.push_back(require_constant(dx[2 + i]) -
                     ((require_constant(dy[2 + i]) - 1) * w.stride[i] + reach - 2 * w.padding[i]));
  }
  attrs.push_back(attr("output_padding", behind));
  l.give(l.make("ConvTranspose", {l.in(0), l.in(1)}, attrs));
  return true;
}

// A convolution of the image by dy with the batch as channels: its strides are this one's dilations.
bool conv2d_weight_grad(Line& l) {
  const Window w = window_of(l, 3);
  const Shape &x = l.type(1).shape, &dw = l.result().shape;
  const Dim n = x[0], inputs = dw[1], outputs = dw[0];
  Val image = l.in(1), by = l.in(0);
  if (w.groups == 1) {
    image = l.transpose(image, {1, 0, 2, 3}), by = l.transpose(by, {1, 0, 2, 3});
  } else {
    const Dim g = w.groups;
    image = l.transpose(l.reshape(image, Shape{n, g, inputs, x[2], x[3]}), {2, 1, 0, 3, 4});
    image = l.reshape(image, Shape{inputs, g * n, x[2], x[3]});
    by = l.transpose(by, {1, 0, 2, 3});
  }
  const Val made = l.make("Conv", {image, by}, attrs_of(w.dilation, w.padding, w.stride, w.groups));
  // If the stride leaves pixels unused, the result has more taps than the kernel.
  const Val all = l.transpose(made, {1, 0, 2, 3});
  const Val taps =
      l.make("Slice", {all, l.graph.integers({0, 0}), l.shape(Shape{dw[2], dw[3]}), l.graph.integers({2, 3})});
  l.give(l.reshape(taps, Shape{outputs, inputs, dw[2], dw[3]}));
  return true;
}

// Before opset 22 ONNX counts a window that begins behind the image, where PyTorch's ceil_mode leaves it out: the
// padding at the end is then what the last one needs. Nothing where both count the same, or sizes vary.
std::optional<Pair> padding_behind(const Line& l, Pair kernel, Pair stride, Pair padding, Pair dilation) {
  Pair behind = padding;
  bool differs = false;
  for (size_t i = 0; i < 2; i++) {
    const Dim from = l.type(0).shape[2 + i], to = l.result().shape[2 + i];
    if (!from.constant() || !to.constant()) return std::nullopt;
    const int64_t reach = (kernel[i] - 1) * dilation[i] + 1, steps = from.value() + 2 * padding[i] - reach;
    differs |= (steps + stride[i] - 1) / stride[i] + 1 != to.value();
    behind[i] = std::max<int64_t>((to.value() - 1) * stride[i] + reach - from.value() - padding[i], 0);
  }
  return differs ? std::optional(behind) : std::nullopt;
}

bool max_pool2d(Line& l) {
  const Pair size = pair_of(l.arg(1)), stride = pair_of(l.arg(2));
  const Pair padding = pair_of(l.arg(3)), dilation = pair_of(l.arg(4));
  std::optional<Pair> behind;
  if (l.arg(5).i && l.graph.opset() < 22) behind = padding_behind(l, size, stride, padding, dilation);
  const Pair end = behind.value_or(padding);
  const std::vector<Val> made =
      l.graph.nodes("MaxPool", {l.in(0)},
                    {attr("kernel_shape", list_of(size)), attr("strides", list_of(stride)),
                     attr("pads", std::vector<int64_t>{padding[0], padding[1], end[0], end[1]}),
                     attr("dilations", list_of(dilation)), attr("ceil_mode", int64_t{l.arg(5).i && !behind})});
  const Val plane = l.make("Squeeze", {l.size(l.type(0).shape[2] * l.type(0).shape[3])});
  l.give(made[0]);
  l.give(l.make("Mod", {made[1], plane}));  // ONNX counts through the whole tensor
  return true;
}
bool max_pool2d_backward(Line& l) {
  const Shape &dx = l.result().shape, &dy = l.type(0).shape;
  const Shape planes{dx[0], dx[1], dx[2] * dx[3]}, windows{dy[0], dy[1], dy[2] * dy[3]};
  const Val zeros = l.make("Expand", {l.graph.scalar(0.0, l.type(0).dtype), l.shape(planes)});
  const Val made = l.make("ScatterElements", {zeros, l.reshape(l.in(1), windows), l.reshape(l.in(0), windows)},
                          {attr("axis", int64_t{2}), attr("reduction", std::string_view("add"))});
  l.give(l.reshape(made, dx));
  return true;
}

}  // namespace

const Row conv2d_row = {"Conv", conv2d};
const Row conv2d_input_grad_row = {"ConvTranspose", conv2d_input_grad};
const Row conv2d_weight_grad_row = {"Conv, Transpose", conv2d_weight_grad};
const Row matmul_row = {"MatMul"};
const Row max_pool2d_row = {"MaxPool, Mod", max_pool2d};
const Row max_pool2d_backward_row = {"ScatterElements", max_pool2d_backward};

}  // namespace thunder::onnx_export
