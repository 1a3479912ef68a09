#include <cmath>
#include <limits>

#include "base/text.h"
#include "onnx/rows.h"
#include "onnx/windows.h"

namespace thunder::onnx {
namespace {

void check_pool_dims(Node& n, size_t dims) {
  if (dims > 3) n.refuse("it has ", dims, " spatial dims; there are pools of 1 to 3");
}

double lowest_number(DType d) {
  if (is_real(d)) return -std::numeric_limits<double>::infinity();
  return is_signed(d) ? -info(d).largest - 1 : 0;
}

// How far a window goes on where a size is rounded up, so that the last one begins inside of the input or the padding
// before it.
int64_t rounded_up(const Windows& w, size_t d, int64_t size) {
  const int64_t whole = size + w.begin[d] + w.end[d] - w.extent(d), stride = w.strides[d];
  int64_t outputs = (whole + stride - 1) / stride + 1;
  if ((outputs - 1) * stride >= size + w.begin[d]) outputs--;
  return std::max<int64_t>(0, (outputs - 1) * stride - whole);
}

// A size on which the padding depends, so it must be known.
int64_t require_constant(Node& n, Dim size) {
  if (!size.constant()) n.refuse("its sizes are rounded up with pads that differ, of an input whose size varies");
  return size.value();
}

std::vector<Dim> plane_strides(const Shape& shape) {
  Dim plane = 1;
  for (size_t d = 2; d < shape.size(); d++) plane = plane * shape[d];
  return {shape[1] * plane, plane};
}

// Places in planes whose first dim counts fastest.
Tensor* to_column_major(Node& n, Tensor* indices, const Shape& shape) {
  Tensor *rest = indices, *all = nullptr;
  for (size_t d = shape.size(); d-- > 2;) {
    Dim step = 1;
    for (size_t before = 2; before < d; before++) step = step * shape[before];
    Tensor* part = n.op("mul", {n.op("remainder", {rest, shape[d]}), step});
    all = all ? n.op("add", {all, part}) : part;
    rest = n.op("floor_divide", {rest, shape[d]});
  }
  return all;
}

// ONNX counts through the whole tensor, PyTorch through each plane.
Tensor* to_tensor_indices(Node& n, Tensor* indices) {
  const Shape shape = n.shape(0);
  if (n.flag("storage_order")) indices = to_column_major(n, indices, shape);
  const std::vector<Dim> strides = plane_strides(shape);
  for (size_t d = 0; d < 2; d++) {
    Shape along(shape.size(), Dim(1));
    along[d] = shape[d];
    Tensor* first = n.op("mul", {n.op("arange", {0, shape[d], 1, DType::i64, indices->type().device}), strides[d]});
    indices = n.op("add", {indices, n.op("reshape", {first, along})});
  }
  return indices;
}

// Pads x, also by what ceil_mode adds; `w` has no padding afterwards.
Tensor* pad_with_ceil_mode(Node& n, Tensor* x, Windows& w, bool ceil, double fill) {
  if (ceil)
    for (size_t d = 0; d < w.dims(); d++) w.end[d] += rounded_up(w, d, require_constant(n, x->type().shape[d + 2]));
  if (w.has_padding()) x = pad_tensor(n, x, w.begin, w.end, fill);
  w.begin.assign(w.dims(), 0), w.end = w.begin;
  return x;
}

void max_pool(Node& n) {
  Tensor* x = n[0];
  Windows w = windows_of(n, n.shape(0));
  check_pool_dims(n, w.dims());
  bool ceil = n.flag("ceil_mode"), plain = w.symmetric();
  for (size_t d = 0; d < w.dims(); d++) plain &= w.begin[d] <= w.kernel[d] / 2;
  if (!plain) {
    if (n.has_output(1)) n.refuse("its indices are wanted, with pads that differ or are wider than half of the kernel");
    x = pad_with_ceil_mode(n, x, w, ceil, lowest_number(n.dtype(0)));
    ceil = false;
  }
  const std::string op = op_name_with_dims("max_pool", w.dims());
  if (!n.has_output(1)) return n.give(n.op(op, {x, w.kernel, w.strides, w.begin, w.dilations, ceil}));
  const std::vector<Tensor*> both =
      n.ops(cat(op, "_with_indices"), {x, w.kernel, w.strides, w.begin, w.dilations, ceil});
  n.give(both[0]);
  n.give(to_tensor_indices(n, both[1]));
}

bool dilated(const Windows& w) {
  for (int64_t d : w.dilations)
    if (d != 1) return true;
  return false;
}

// The sums of windows in each channel; `w` has no padding any more.
Tensor* window_sums(Node& n, Tensor* x, const Windows& w) {
  const Shape shape = x->type().shape;
  Shape planes = {shape[0] * shape[1], 1};
  for (size_t d = 2; d < shape.size(); d++) planes.push_back(shape[d]);
  Sizes kernel = {1, 1};
  for (int64_t k : w.kernel) kernel.push_back(k);
  Tensor* ones = n.op("full", {kernel, 1.0, x->type().dtype, x->type().device});
  Tensor* sums = n.op(op_name_with_dims("conv", w.dims()), {n.op("reshape", {x, planes}), ones, nullptr, w.strides,
                                                            std::vector<int64_t>(w.dims(), 0), w.dilations});
  Shape out = {shape[0], shape[1]};
  for (size_t d = 2; d < shape.size(); d++) out.push_back(sums->type().shape[d]);
  return n.op("reshape", {sums, out});
}

void average_pool(Node& n) {
  Tensor* x = n[0];
  Windows w = windows_of(n, n.shape(0));
  check_pool_dims(n, w.dims());
  const bool ceil = n.flag("ceil_mode"), with_pads = n.flag("count_include_pad");
  bool plain = w.symmetric() && !dilated(w);
  for (size_t d = 0; d < w.dims(); d++) plain &= w.begin[d] <= w.kernel[d] / 2;
  if (plain)
    return n.give(n.op(op_name_with_dims("avg_pool", w.dims()), {x, w.kernel, w.strides, w.begin, ceil, with_pads}));
  // The sum of each window divided by how many of its elements count: those of the input, or of the pads too, but none
  // of what is beyond.
  const Shape shape = n.shape(0);
  Shape plane = {1, 1};
  for (size_t d = 2; d < shape.size(); d++) plane.push_back(shape[d]);
  Tensor* ones = n.op("full", {plane, 1.0, n.dtype(0), x->type().device});
  Windows of_ones = w;
  if (with_pads) {
    ones = pad_tensor(n, ones, w.begin, w.end, 1);
    of_ones.begin.assign(w.dims(), 0), of_ones.end = of_ones.begin;
    if (ceil)
      for (size_t d = 0; d < w.dims(); d++) of_ones.end[d] = rounded_up(w, d, require_constant(n, shape[d + 2]));
    ones = pad_tensor(n, ones, of_ones.begin, of_ones.end, 0), of_ones.end = of_ones.begin;
  } else {
    ones = pad_with_ceil_mode(n, ones, of_ones, ceil, 0);
  }
  x = pad_with_ceil_mode(n, x, w, ceil, 0);
  n.give(n.op("div", {window_sums(n, x, w), window_sums(n, ones, of_ones)}));
}

void lp_pool(Node& n) {
  const double p = static_cast<double>(n.integer("p", 2));
  Windows w = windows_of(n, n.shape(0));
  check_pool_dims(n, w.dims());
  Tensor* x = n.op("pow", {n.op("abs", {n[0]}), p});
  x = pad_with_ceil_mode(n, x, w, n.flag("ceil_mode"), 0);
  n.give(n.op("pow", {window_sums(n, x, w), 1 / p}));
}

std::vector<int64_t> spatial_axes(Node& n) {
  std::vector<int64_t> dims;
  n.require(n.rank(0) >= 2, "its input is of rank ", n.rank(0));
  for (size_t d = 2; d < n.rank(0); d++) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

void global_average_pool(Node& n) {
  n.give(n.op("mean", {n[0], spatial_axes(n), true}));
}
void global_max_pool(Node& n) {
  n.give(n.op("amax", {n[0], spatial_axes(n), true}));
}
void global_lp_pool(Node& n) {
  const double p = static_cast<double>(n.integer("p", 2));
  Tensor* sums = n.op("sum", {n.op("pow", {n.op("abs", {n[0]}), p}), spatial_axes(n), true});
  n.give(n.op("pow", {sums, 1 / p}));
}

constexpr ImportRow kRows[] = {
    {"MaxPool", 1, kLatestOpset, max_pool},
    {"AveragePool", 1, kLatestOpset, average_pool},
    {"LpPool", 2, kLatestOpset, lp_pool},
    {"GlobalAveragePool", 1, kLatestOpset, global_average_pool},
    {"GlobalMaxPool", 1, kLatestOpset, global_max_pool},
    {"GlobalLpPool", 2, kLatestOpset, global_lp_pool},
};

}  // namespace

constinit const ImportTable pools_rows = {"", kRows};

}  // namespace thunder::onnx
