#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "onnx/narrow.h"
#include "onnx/operands.h"
#include "onnx/rows.h"
#include "onnx/windows.h"

namespace thunder::onnx {
namespace {

// The range of integers of so many bits.
struct Range {
  DType dtype;
  double low, high;
};
Range range_of(const ElementType& type) {
  const double top = std::ldexp(1.0, is_signed(type.dtype) ? type.bits - 1 : type.bits);
  return {type.dtype, is_signed(type.dtype) ? -top : 0, top - 1};
}
Range range_of(DType dtype) {
  return range_of(element_type(number_of(dtype), "a quantised tensor"));
}

// Makes a scale or zero point broadcast with x: one number, one for each index of the axis, or each block.
Tensor* broadcast_to_input(Node& n, Tensor* t, const Shape& x) {
  const Shape s = t->type().shape;
  if (s.empty()) return t;
  const int64_t block = n.count_or("block_size", 0, 0);
  const size_t axis = dim_at(n.integer("axis", 1), x.size());
  if (s.size() == 1 && (x.size() != 1 || block == 0)) {
    if (s[0] == Dim(1)) return n.op("reshape", {t, Shape()});
    Shape along(x.size(), Dim(1));
    along[axis] = s[0];
    return n.op("reshape", {t, along});
  }
  n.require(s.size() == x.size() && block > 0, "its scale is of rank ", s.size(), " for an input of rank ", x.size());
  Tensor* each = n.op("repeat_interleave", {t, block, static_cast<int64_t>(axis)});
  // The last block may go beyond the input.
  return n.op("slice", {each, static_cast<int64_t>(axis), 0, x[axis]});
}

Tensor* round_and_clamp(Node& n, Tensor* x, Tensor* zero, const Range& r) {
  x = n.op("round", {x});
  if (zero) x = n.op("add", {x, n.cast(zero, x->type().dtype)});
  return n.cast(n.op("clamp", {x, r.low, r.high}), r.dtype);
}

void quantize(Node& n) {
  const Shape shape = n.shape(0);
  Tensor* scale = broadcast_to_input(n, n[1], shape);
  Tensor* zero = n.has(2) ? broadcast_to_input(n, n[2], shape) : nullptr;
  const auto given = static_cast<int32_t>(n.count_or("output_dtype", 0, 0));
  Range r = range_of(zero ? zero->type().dtype : DType::u8);
  if (const ElementType* narrow = narrow_type(n, 2)) r = range_of(*narrow);
  if (given) r = range_of(element_type(given, "its result"));
  const DType wide = n.dtype(0) == DType::f64 ? DType::f64 : DType::f32;
  Tensor* x = n.op("div", {n.cast(n[0], wide), n.cast(scale, wide)});
  n.give(round_and_clamp(n, x, zero, r));
}

void dequantize(Node& n) {
  const Shape shape = n.shape(0);
  Tensor* scale = broadcast_to_input(n, n[1], shape);
  const DType dtype = n.has_attribute("output_dtype") ? n.element("output_dtype").dtype : scale->type().dtype;
  // Differences of integers are exact in f32 up to 24 bits, wider ones in f64.
  const DType wide = size_of(n.dtype(0)) > 2 ? DType::f64 : DType::f32;
  Tensor* x = n.cast(n[0], wide);
  if (n.has(2)) x = n.op("sub", {x, n.cast(broadcast_to_input(n, n[2], shape), wide)});
  n.give(n.cast(n.op("mul", {x, n.cast(scale, wide)}), dtype));
}

// Quantizes to u8 by the range of the values.
void dynamic_quantize(Node& n) {
  Tensor* x = n[0];
  Tensor* low = n.op("clamp", {n.op("amin", {x}), nullptr, 0.0});
  Tensor* high = n.op("clamp", {n.op("amax", {x}), 0.0});
  Tensor* scale = n.op("div", {n.op("sub", {high, low}), 255.0});
  Tensor* zero =
      n.cast(n.op("clamp", {n.op("round", {n.op("div", {n.op("neg", {low}), scale})}), 0.0, 255.0}), DType::u8);
  n.give(round_and_clamp(n, n.op("div", {x, scale}), zero, range_of(DType::u8)));
  n.give(scale);
  n.give(zero);
}

// Integers as numbers of `dtype`, from their zero point.
Tensor* subtract_zero_point(Node& n, size_t i, size_t zero, DType dtype, bool rows) {
  Tensor* x = n.cast(n[i], dtype);
  if (!n.has(zero)) return x;
  Tensor* z = n.cast(n[zero], dtype);
  if (rows && z->type().rank() == 1 && hint(dim_of(z, 0)) > 1) z = n.op("unsqueeze", {z, -1});
  return n.op("sub", {x, z});
}

// Exact: products and sums of 8-bit integers are, in 32 bits.
void matmul_integer(Node& n) {
  n.give(n.op("matmul",
              {subtract_zero_point(n, 0, 2, DType::i32, true), subtract_zero_point(n, 1, 3, DType::i32, false)}));
}

Tensor* convolve(Node& n, Tensor* x, Tensor* weight, const Shape& of_weight, Tensor* bias) {
  std::vector<int64_t> kernel;
  for (size_t d = 2; d < of_weight.size(); d++) kernel.push_back(hint(of_weight[d]));
  Windows w = windows_of(n, x->type().shape, kernel);
  if (w.dims() > 3) n.refuse("it has ", w.dims(), " spatial dims; there are convolutions of 1 to 3");
  if (!w.symmetric()) {
    x = pad_tensor(n, x, w.begin, w.end, 0);
    w.begin.assign(w.dims(), 0);
  }
  return n.op(op_name_with_dims("conv", w.dims()),
              {x, weight, bias, w.strides, w.begin, w.dilations, n.count_or("group", 1)});
}

Tensor* reshape_per_channel(Node& n, Tensor* t, size_t rank) {
  if (t->type().rank() == 0 || hint(dim_of(t, 0)) == 1) return n.op("reshape", {t, Shape()});
  Shape shape(rank, Dim(1));
  shape[0] = dim_of(t, 0);
  return n.op("reshape", {t, shape});
}

// Computed in f64, in which sums of such products are exact.
void conv_integer(Node& n) {
  Tensor* weight = n.cast(n[1], DType::f64);
  if (n.has(3)) weight = n.op("sub", {weight, reshape_per_channel(n, n.cast(n[3], DType::f64), n.rank(1))});
  n.give(n.cast(convolve(n, subtract_zero_point(n, 0, 2, DType::f64, false), weight, n.shape(1), nullptr), DType::i32));
}

// Converts an exact result to integers with the result's scale and zero point.
Tensor* requantize(Node& n, Tensor* y, Tensor* factor, size_t scale, size_t zero) {
  Tensor* x = n.op("mul", {y, n.op("div", {factor, n.cast(n[scale], DType::f64)})});
  return round_and_clamp(n, x, n[zero], range_of(n.dtype(zero)));
}

void qlinear_matmul(Node& n) {
  const auto input = [&](size_t i, bool rows) {
    Tensor* z = n.cast(n[i + 2], DType::f64);
    if (rows && z->type().rank() == 1 && hint(dim_of(z, 0)) > 1) z = n.op("unsqueeze", {z, -1});
    return n.op("sub", {n.cast(n[i], DType::f64), z});
  };
  Tensor* y = n.op("matmul", {input(0, true), input(3, false)});
  Tensor* a = n.cast(n[1], DType::f64);
  if (a->type().rank() == 1 && hint(dim_of(a, 0)) > 1) a = n.op("unsqueeze", {a, -1});
  n.give(requantize(n, y, n.op("mul", {a, n.cast(n[4], DType::f64)}), 6, 7));
}

void qlinear_conv(Node& n) {
  const size_t rank = n.rank(0);
  Tensor* x = n.op("sub", {n.cast(n[0], DType::f64), n.cast(n.op("reshape", {n[2], Shape()}), DType::f64)});
  Tensor* weight = n.op("sub", {n.cast(n[3], DType::f64), reshape_per_channel(n, n.cast(n[5], DType::f64), n.rank(3))});
  Tensor* y = convolve(n, x, weight, n.shape(3), n.has(8) ? n.cast(n[8], DType::f64) : nullptr);
  Tensor* factor = n.op("mul", {n.cast(n[1], DType::f64), n.cast(n[4], DType::f64)});
  if (factor->type().rank() == 1 && hint(dim_of(factor, 0)) > 1) {
    Shape shape(rank, Dim(1));
    shape[1] = dim_of(factor, 0);
    factor = n.op("reshape", {factor, shape});
  } else {
    factor = n.op("reshape", {factor, Shape()});
  }
  n.give(requantize(n, y, factor, 6, 7));
}

constexpr ImportRow kRows[] = {
    {"QuantizeLinear", 10, kNow, quantize},
    {"DequantizeLinear", 10, kNow, dequantize},
    {"DynamicQuantizeLinear", 11, kNow, dynamic_quantize},
    {"MatMulInteger", 10, kNow, matmul_integer},
    {"ConvInteger", 10, kNow, conv_integer},
    {"QLinearMatMul", 10, kNow, qlinear_matmul},
    {"QLinearConv", 10, kNow, qlinear_conv},
};

}  // namespace

constinit const ImportTable quantization_rows = {"", kRows};

}  // namespace thunder::onnx
