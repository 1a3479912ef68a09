// Ops above the prims that ONNX has as they are.
#include <algorithm>

#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

bool is_float(const Line& l, size_t i) {
  return is_real(l.type(i).dtype) && l.result().dtype == l.type(i).dtype;
}

bool emit_if_float(Line& l, const char* op) {
  if (!is_float(l, 0)) return false;
  l.give(l.make(op, {l.in(0)}));
  return true;
}
bool relu(Line& l) {
  return emit_if_float(l, "Relu");
}
bool sigmoid(Line& l) {
  return emit_if_float(l, "Sigmoid");
}

bool softmax_as(Line& l, const char* op) {
  const size_t rank = l.type(0).rank();
  if (!is_float(l, 0) || !rank) return false;
  l.give(l.make(op, {l.in(0)}, {attr("axis", static_cast<int64_t>(l.axis(1, rank)))}));
  return true;
}
bool softmax(Line& l) {
  return softmax_as(l, "Softmax");
}
bool log_softmax(Line& l) {
  return softmax_as(l, "LogSoftmax");
}

bool gelu(Line& l) {
  if (!is_float(l, 0) || l.graph.opset() < 20) return false;
  l.give(l.make("Gelu", {l.in(0)}, {attr("approximate", l.arg(1).text())}));
  return true;
}

// input [.., in], weight [out, in]: as Gemm where the input is a matrix.
bool linear(Line& l) {
  const TensorType &x = l.type(0), &w = l.type(1);
  if (!is_float(l, 0) || w.rank() != 2) return false;
  const bool biased = l.has(2);
  if (x.rank() == 2 && (!biased || l.type(2).rank() == 1)) {
    l.give(l.make("Gemm", {l.in(0), l.in(1), biased ? l.in(2) : kAbsent}, {attr("transB", int64_t{1})}));
    return true;
  }
  const Val made = l.make("MatMul", {l.in(0), l.transpose(l.in(1), {1, 0})});
  l.give(biased ? l.make("Add", {made, l.in(2)}) : made);
  return true;
}

bool silu(Line& l) {
  if (!is_float(l, 0) || is_half(l.type(0).dtype)) return false;  // it is rounded once
  const Val x = l.in(0);
  l.give(l.make("Mul", {x, l.make("Sigmoid", {x})}));
  return true;
}

// One number for each of `count` dims; a single one counts for all.
std::vector<int64_t> repeat_for_dims(const Line& l, size_t i, size_t count) {
  std::vector<int64_t> list = l.ints(i);
  if (list.size() == 1) list.resize(count, list[0]);
  return list;
}
std::vector<int64_t> repeat_list(std::vector<int64_t> list) {
  const size_t n = list.size();
  for (size_t i = 0; i < n; i++) list.push_back(list[i]);
  return list;
}
// Takes batches only: images without a batch dim, and named paddings, are reshaped and padded by other lines.
template <size_t dims>
bool convolution(Line& l) {
  if (!is_float(l, 0) || l.type(0).rank() != dims + 2 || l.arg(4).kind == ArgKind::string) return false;
  l.give(l.make("Conv", {l.in(0), l.in(1), l.has(2) ? l.in(2) : kAbsent},
                {attr("strides", repeat_for_dims(l, 3, dims)), attr("pads", repeat_list(repeat_for_dims(l, 4, dims))),
                 attr("dilations", repeat_for_dims(l, 5, dims)), attr("group", int64_t{l.arg(6).i})}));
  return true;
}

// Windows that reach beyond the padding are not exported: libraries count their elements differently.
template <size_t dims>
bool average_pool(Line& l) {
  const bool plain = l.arg(4).i == 0 && (dims == 1 || !l.has(6));
  if (!is_float(l, 0) || l.type(0).rank() != dims + 2 || !plain) return false;
  l.give(
      l.make("AveragePool", {l.in(0)},
             {attr("kernel_shape", repeat_for_dims(l, 1, dims)),
              attr("strides", repeat_for_dims(l, l.has(2) && !l.arg(2).dim_list().empty() ? 2 : 1, dims)),
              attr("pads", repeat_list(repeat_for_dims(l, 3, dims))), attr("count_include_pad", int64_t{l.arg(5).i})}));
  return true;
}

// A vector argument; if it is absent, a vector of one number.
Val operand_or_filled(const Line& l, size_t i, double number, std::span<const Dim> shape) {
  if (l.has(i)) return l.in(i);
  return l.make("Expand", {l.graph.scalar(number, l.type(0).dtype), l.shape(shape)});
}
bool have_same_dtype(const Line& l, std::initializer_list<size_t> operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [&](size_t i) { return !l.has(i) || l.type(i).dtype == l.type(0).dtype; });
}
bool batch_norm(Line& l) {
  if (!is_float(l, 0) || l.type(0).rank() < 2 || l.arg(5).i || !l.has(1) || !l.has(2) ||
      !have_same_dtype(l, {1, 2, 3, 4}))
    return false;
  const Shape channels{l.type(0).shape[1]};
  l.give(l.make("BatchNormalization",
                {l.in(0), operand_or_filled(l, 3, 1, channels), operand_or_filled(l, 4, 0, channels), l.in(1), l.in(2)},
                {attr("epsilon", static_cast<float>(l.arg(7).f))}));
  return true;
}
bool layer_norm(Line& l) {
  if (!is_float(l, 0) || is_half(l.type(0).dtype) || !have_same_dtype(l, {2, 3})) return false;
  const auto shape = l.arg(1).dim_list();
  l.give(l.make("LayerNormalization", {l.in(0), operand_or_filled(l, 2, 1, shape), l.has(3) ? l.in(3) : kAbsent},
                {attr("axis", -static_cast<int64_t>(shape.size())), attr("epsilon", static_cast<float>(l.arg(4).f))}));
  return true;
}
bool rms_norm(Line& l) {
  if (!is_float(l, 0) || is_half(l.type(0).dtype) || !have_same_dtype(l, {2}) || !l.has(3) || l.graph.opset() < 23)
    return false;
  const auto shape = l.arg(1).dim_list();
  l.give(l.make("RMSNormalization", {l.in(0), operand_or_filled(l, 2, 1, shape)},
                {attr("axis", -static_cast<int64_t>(shape.size())), attr("epsilon", static_cast<float>(l.arg(3).f))}));
  return true;
}

// Exports attention of four dims without dropout, whose mask has four dims or the last two.
bool attention(Line& l) {
  if (l.graph.opset() < 23 || !is_float(l, 0) || l.type(0).dtype != DType::f32 || !have_same_dtype(l, {1, 2}) ||
      l.arg(4).f > 0)
    return false;
  for (const size_t i : {0, 1, 2})
    if (l.type(i).rank() != 4) return false;
  if (l.has(3) && l.type(3).rank() != 2 && l.type(3).rank() != 4) return false;
  if (l.has(3) && l.type(3).dtype != DType::boolean && !have_same_dtype(l, {3})) return false;
  Attrs attrs{attr("is_causal", int64_t{l.arg(5).i})};
  if (l.has(6)) attrs.push_back(attr("scale", static_cast<float>(l.arg(6).f)));
  l.give(l.make("Attention", {l.in(0), l.in(1), l.in(2), l.has(3) ? l.in(3) : kAbsent}, attrs));
  return true;
}

constexpr CompositeRow kRows[] = {
    {"avg_pool1d", {"AveragePool", average_pool<1>}},
    {"avg_pool2d", {"AveragePool", average_pool<2>}},
    {"avg_pool3d", {"AveragePool", average_pool<3>}},
    {"batch_norm", {"BatchNormalization", batch_norm}},
    {"conv1d", {"Conv", convolution<1>}},
    {"conv2d", {"Conv", convolution<2>}},
    {"conv3d", {"Conv", convolution<3>}},
    {"gelu", {"Gelu (from opset 20)", gelu}},
    {"layer_norm", {"LayerNormalization", layer_norm}},
    {"linear", {"Gemm, MatMul", linear}},
    {"log_softmax", {"LogSoftmax", log_softmax}},
    {"relu", {"Relu", relu}},
    {"rms_norm", {"RMSNormalization (from opset 23)", rms_norm}},
    {"scaled_dot_product_attention", {"Attention (from opset 23)", attention}},
    {"sigmoid", {"Sigmoid", sigmoid}},
    {"silu", {"Sigmoid, Mul", silu, true}},
    {"softmax", {"Softmax", softmax}},
};

}  // namespace

std::span<const CompositeRow> composite_rows() {
  return kRows;
}

}  // namespace thunder::onnx_export
