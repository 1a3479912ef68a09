#include "base/text.h"
#include "onnx/rows.h"
#include "onnx/windows.h"

namespace thunder::onnx {
namespace {

void check_convolution_dims(Node& n, size_t dims) {
  if (dims > 3) n.refuse("it has ", dims, " spatial dims; there are convolutions of 1 to 3");
}

std::vector<int64_t> kernel_of(Node& n, const Shape& weight) {
  std::vector<int64_t> kernel;
  for (size_t d = 2; d < weight.size(); d++) kernel.push_back(hint(weight[d]));
  n.require(!kernel.empty(), "its kernel is of rank ", weight.size());
  return kernel;
}

void conv(Node& n) {
  Tensor *x = n[0], *weight = n[1];
  Windows w = windows_of(n, n.shape(0), kernel_of(n, n.shape(1)));
  check_convolution_dims(n, w.dims());
  if (!w.symmetric()) {
    x = pad_tensor(n, x, w.begin, w.end, 0);
    w.begin.assign(w.dims(), 0);
  }
  n.give(n.op(op_name_with_dims("conv", w.dims()),
              {x, weight, n.tensor_or_null(2), w.strides, w.begin, w.dilations, n.count_or("group", 1)}));
}

// How much the attribute output_shape, or SAME, cuts off on both sides.
void pads_for_output(Node& n, Windows& w, std::vector<int64_t>& extra) {
  std::vector<int64_t> wanted = n.counts("output_shape");
  const std::string_view automatic = n.text("auto_pad", "NOTSET");
  if (wanted.size() == w.dims() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (wanted.empty() && !automatic.starts_with("SAME")) return;
  n.require(wanted.empty() || wanted.size() == w.dims(), "its attribute 'output_shape' has ", wanted.size(),
            " numbers");
  for (size_t d = 0; d < w.dims(); d++) {
    const int64_t in = hint(n.shape(0)[d + 2]);
    const int64_t out = wanted.empty() ? in * w.strides[d] : wanted[d];
    int64_t total = w.strides[d] * (in - 1) + extra[d] + w.extent(d) - out;
    if (total < 0) extra[d] -= total, total = 0;  // what there is not is zero
    w.begin[d] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.end[d] = total - w.begin[d];
  }
}

void conv_transpose(Node& n) {
  Tensor *x = n[0], *weight = n[1];
  Windows w = windows_of(n, n.shape(0), kernel_of(n, n.shape(1)));
  check_convolution_dims(n, w.dims());
  std::vector<int64_t> extra = n.counts("output_padding", 0);
  if (extra.empty()) extra.assign(w.dims(), 0);
  n.require(extra.size() == w.dims(), "its attribute 'output_padding' has ", extra.size(), " numbers");
  pads_for_output(n, w, extra);
  // output_padding beyond what strides and dilations allow adds zeros, as any of it does.
  std::vector<int64_t> low = w.begin, none(w.dims(), 0);
  bool plain = w.symmetric();
  for (size_t d = 0; d < w.dims(); d++) plain &= extra[d] < std::max(w.strides[d], w.dilations[d]);
  const std::string op = op_name_with_dims("conv_transpose", w.dims());
  Tensor* bias = n.tensor_or_null(2);
  const int64_t groups = n.count_or("group", 1);
  if (plain) return n.give(n.op(op, {x, weight, bias, w.strides, w.begin, extra, groups, w.dilations}));
  Tensor* y = n.op(op, {x, weight, nullptr, w.strides, none, none, groups, w.dilations});
  std::vector<int64_t> before, after;
  for (size_t d = 0; d < w.dims(); d++) before.push_back(-w.begin[d]), after.push_back(extra[d] - w.end[d]);
  y = pad_tensor(n, y, before, after, 0);
  if (bias) {
    Shape shape = {1, dim_of(bias, 0)};
    for (size_t d = 0; d < w.dims(); d++) shape.push_back(1);
    y = n.op("add", {y, n.op("reshape", {bias, shape})});
  }
  n.give(y);
}

constexpr ImportRow kRows[] = {
    {"Conv", 1, kLatestOpset, conv},
    {"ConvTranspose", 1, kLatestOpset, conv_transpose},
};

}  // namespace

constinit const ImportTable convolution_rows = {"", kRows};

}  // namespace thunder::onnx
