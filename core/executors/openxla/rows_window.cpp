// Prims of matrix products, convolutions and pooling, and the gradients of convolutions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "executors/openxla/rows.h"
#include "ops/pair.h"

namespace thunder::openxla {
namespace {

using Pair = std::array<int64_t, 2>;

// 16-bit reals are accumulated in f32, as XLA does when it computes in them.
void matmul(Line& l) {
  const auto rank = static_cast<int64_t>(l.rank());
  std::string batch;
  for (int64_t i = 0; i + 2 < rank; i++) append(batch, cat(i ? ", " : "", i));
  const std::string dims =
      cat("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [", batch, "], rhs_batching_dimensions = [",
          batch, "], lhs_contracting_dimensions = [", rank - 1, "], rhs_contracting_dimensions = [", rank - 2, "]>");
  l.add_result(l.module.add_op("stablehlo.dot_general", {{l.input(0), l.input(1)}}, l.result(), dims));
}

struct Convolution {
  Pair stride{1, 1}, low{0, 0}, high{0, 0}, spaced{1, 1}, dilation{1, 1};
  int64_t groups = 1, batch_groups = 1;
  std::string_view dims = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
};
Val convolve(const Line& l, Val image, Val kernel, const TensorType& result, const Convolution& c) {
  return l.module.add_op(
      "stablehlo.convolution", {{image, kernel}}, result,
      cat(array_attribute("window_strides", c.stride), ", ", pairs_attribute("padding", c.low, c.high), ", ",
          array_attribute("lhs_dilation", c.spaced), ", ", array_attribute("rhs_dilation", c.dilation),
          ", dimension_numbers = #stablehlo.conv<", c.dims, ">, feature_group_count = ", c.groups,
          " : i64, batch_group_count = ", c.batch_groups, " : i64"));
}

struct Window {
  Pair stride, padding, dilation;
  int64_t groups;
};
Window window_of(const Line& l, size_t at) {
  return {pair_of(l.arg(at)), pair_of(l.arg(at + 1)), pair_of(l.arg(at + 2)), l.arg(at + 3).plain().i};
}

void conv2d(Line& l) {
  const Window w = window_of(l, 2);
  l.add_result(
      convolve(l, l.input(0), l.input(1), l.result(),
               {.stride = w.stride, .low = w.padding, .high = w.padding, .dilation = w.dilation, .groups = w.groups}));
}

// The convolution of dy, its pixels as far apart as windows were, by the kernel reversed around.
void conv2d_input_grad(Line& l) {
  const Window w = window_of(l, 3);
  const Ints dy = l.shape(0), kernel = l.shape(1), dx = l.result_shape();
  const int64_t g = w.groups, outputs = kernel[0] / g, inputs = kernel[1];
  const Val split = l.reshape(l.input(1), {g, outputs, inputs, kernel[2], kernel[3]});
  const Val by = l.reshape(l.transpose(split, {0, 2, 1, 3, 4}), {g * inputs, outputs, kernel[2], kernel[3]});
  const Val reversed = l.module.add_op("stablehlo.reverse", {{by}}, l.module.type(by),
                                       array_attribute("dimensions", {{int64_t{2}, int64_t{3}}}));
  Convolution c{.spaced = w.stride, .dilation = w.dilation, .groups = g};
  for (size_t i = 0; i < 2; i++) {
    const int64_t reach = (kernel[2 + i] - 1) * w.dilation[i];
    c.low[i] = reach - w.padding[i];
    c.high[i] = dx[2 + i] + reach - c.low[i] - ((dy[2 + i] - 1) * w.stride[i] + 1);
  }
  l.add_result(convolve(l, l.input(0), reversed, l.result(), c));
}

// The convolution of the image by dy, the batch being channels: its strides are this one's dilations.
void conv2d_weight_grad(Line& l) {
  const Window w = window_of(l, 3);
  const Ints dy = l.shape(0), x = l.shape(1), dw = l.result_shape();
  Convolution c{.stride = w.dilation,
                .low = w.padding,
                .dilation = w.stride,
                .batch_groups = w.groups,
                .dims = "[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]"};
  for (size_t i = 0; i < 2; i++)
    c.high[i] = (dw[2 + i] - 1) * w.dilation[i] + (dy[2 + i] - 1) * w.stride[i] + 1 - x[2 + i] - w.padding[i];
  l.add_result(convolve(l, l.input(1), l.input(0), l.result(), c));
}

Val lowest_value(const Line& l, DType dtype) {
  if (is_real(dtype)) return l.scalar(-HUGE_VAL, dtype);
  if (!is_signed(dtype)) return l.scalar(int64_t{0}, dtype);
  return l.scalar(std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(dtype)), dtype);
}

// The maximum with its index. NaN counts as the greatest; of equal values the first is taken.
void max_pool2d(Line& l) {
  const Pair size = pair_of(l.arg(1)), stride = pair_of(l.arg(2)), padding = pair_of(l.arg(3)),
             dilation = pair_of(l.arg(4));
  const Ints in = l.shape(0), out = l.result_shape();
  Ints low(4), high(4), sizes(4, 1), strides(4, 1), dilations(4, 1);
  for (size_t i = 0; i < 2; i++) {
    sizes[2 + i] = size[i], strides[2 + i] = stride[i], dilations[2 + i] = dilation[i], low[2 + i] = padding[i];
    const int64_t needed = (out[2 + i] - 1) * stride[i] + (size[i] - 1) * dilation[i] + 1;
    high[2 + i] = std::max<int64_t>(0, needed - in[2 + i] - padding[i]);
  }
  const DType dtype = l.type(0).dtype;
  const Val places = l.broadcast(l.reshape(l.iota(DType::i64, {in[2] * in[3]}, 0), {in[2], in[3]}), in, {2, 3});
  const TensorType element = type_of(dtype, {}), index = type_of(DType::i64, {});
  const std::string region = l.module.write_region({{element, index, element, index}}, [&](auto v) {
    const Val greater = l.compare("GT", v[0], v[2]), same = l.compare("EQ", v[0], v[2]);
    Val first = l.logical_or(greater, l.logical_and(same, l.compare("LT", v[1], v[3])));
    if (is_real(dtype)) {
      const Val a = l.is_nan(v[0]), b = l.compare("EQ", v[2], v[2]);
      first = l.logical_or(l.logical_or(first, l.logical_and(a, b)),
                           l.logical_and(l.logical_and(a, l.is_nan(v[2])), l.compare("LT", v[1], v[3])));
    }
    return std::vector{l.select(first, v[0], v[2]), l.select(first, v[1], v[3])};
  });
  const Val none = l.scalar(std::numeric_limits<int64_t>::max(), DType::i64);
  const std::vector<Val> made = l.module.add_ops(
      "stablehlo.reduce_window", {{l.input(0), places, lowest_value(l, dtype), none}},
      {{l.result(0), with_dtype(l.result(1), DType::i64)}},
      cat(array_attribute("window_dimensions", sizes), ", ", array_attribute("window_strides", strides), ", ",
          array_attribute("window_dilations", dilations), ", ", pairs_attribute("padding", low, high)),
      region);
  l.add_result(made[0]);
  l.add_result(l.convert(made[1], l.result(1).dtype));
}

}  // namespace

const Row conv2d_row = {"stablehlo.convolution", conv2d};
const Row conv2d_input_grad_row = {"stablehlo.convolution, reverse", conv2d_input_grad};
const Row conv2d_weight_grad_row = {"stablehlo.convolution", conv2d_weight_grad};
const Row matmul_row = {"stablehlo.dot_general", matmul};
const Row max_pool2d_row = {"stablehlo.reduce_window", max_pool2d};

}  // namespace thunder::openxla
