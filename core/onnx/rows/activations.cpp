#include <algorithm>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void leaky_relu(Node& n) {
  n.give(n.op("leaky_relu", {n[0], n.real("alpha", 0.01)}));
}
void elu(Node& n) {
  n.give(n.op("elu", {n[0], n.real("alpha", 1)}));
}
void celu(Node& n) {
  n.give(n.op("celu", {n[0], n.real("alpha", 1)}));
}

void selu(Node& n) {
  const double alpha = n.real("alpha", 1.67326319217681884765625), gamma = n.real("gamma", 1.05070102214813232421875);
  n.give(n.op("mul", {n.op("elu", {n[0], alpha}), gamma}));
}

void hard_sigmoid(Node& n) {
  Tensor* line = n.op("add", {n.op("mul", {n[0], n.real("alpha", 0.2f)}), n.real("beta", 0.5)});
  n.give(n.op("clamp", {line, 0.0, 1.0}));
}

void gelu(Node& n) {
  n.give(n.op("gelu", {n[0], n.text("approximate", "none")}));
}
void swish(Node& n) {
  const double alpha = n.real("alpha", 1);
  if (alpha == 1) return n.give(n.op("silu", {n[0]}));
  n.give(n.op("mul", {n[0], n.op("sigmoid", {n.op("mul", {n[0], alpha})})}));
}
void swiglu(Node& n) {
  swish(n);
  n.results[0].tensor = n.op("mul", {n.results[0].tensor, n[1]});
}
void thresholded_relu(Node& n) {
  n.give(n.op("threshold", {n[0], n.real("alpha", 1), 0.0}));
}

void shrink(Node& n) {
  Tensor* x = n[0];
  const double bias = n.real("bias", 0), lambda = n.real("lambd", 0.5);
  const DType dtype = n.dtype(0);
  Tensor* above = n.op("where", {n.op("gt", {x, lambda}), n.cast(n.op("sub", {x, bias}), dtype), n.constant(0, dtype)});
  n.give(n.op("where", {n.op("lt", {x, -lambda}), n.cast(n.op("add", {x, bias}), dtype), above}));
}

// The slope broadcasts as an operand does, and integers have one, too.
void prelu(Node& n) {
  Tensor *x = n[0], *slope = n[1];
  n.give(n.op("where", {n.op("lt", {x, 0}), n.op("mul", {x, slope}), x}));
}

// Before opset 13 all dims from the axis on were one.
template <OpName name>
void softmax(Node& n) {
  Tensor* x = n[0];
  if (n.opset >= 13) return n.give(n.op(name.text, {x, n.integer("axis", -1)}));
  const Shape shape = n.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = n.integer("axis", 1);
  if (axis < 0) axis += rank;
  n.require(axis >= 0 && axis <= rank, "its attribute 'axis' is ", axis, " for an input of rank ", rank);
  if (axis == rank - 1) return n.give(n.op(name.text, {x, -1}));
  Shape flat = {1, 1};
  for (size_t d = 0; d < shape.size(); d++)
    flat[static_cast<int64_t>(d) < axis ? 0 : 1] = flat[static_cast<int64_t>(d) < axis ? 0 : 1] * shape[d];
  n.give(n.op("reshape", {n.op(name.text, {n.op("reshape", {x, flat}), 1}), shape}));
}

// Gives 1 at the first maximum, 0 elsewhere.
void hardmax(Node& n) {
  Tensor* x = n[0];
  const Shape shape = n.shape(0);
  const size_t rank = shape.size(), axis = dim_at(n.integer("axis", n.opset < 13 ? 1 : -1), rank);
  const bool flattens = n.opset < 13 && axis + 1 != rank;
  Shape flat = {1, 1};
  if (flattens) {
    for (size_t d = 0; d < rank; d++) flat[d < axis ? 0 : 1] = flat[d < axis ? 0 : 1] * shape[d];
    x = n.op("reshape", {x, flat});
  }
  const size_t along = flattens ? 1 : axis, dims = flattens ? 2 : rank;
  Tensor* best = n.op("argmax", {x, static_cast<int64_t>(along), true});
  Tensor* ones = n.op("eq", {arange_along(n, x->type().shape[along], along, dims), best});
  Tensor* y = n.cast(ones, n.dtype(0));
  n.give(flattens ? n.op("reshape", {y, shape}) : y);
}

void dropout(Node& n) {
  const bool training = n.opset >= 12 && n.has(2) && n.number(2, "training_mode") != 0;
  const double ratio = n.opset < 12 ? n.real("ratio", 0.5) : n.has(1) ? n.number(1, "ratio") : 0.5;
  if (!training || ratio == 0) {
    n.give(n.value(0));
    if (n.has_output(1)) n.give(n.op("full_like", {n[0], true, DType::boolean}));
    return;
  }
  if (!n.has_output(1)) return n.give(n.op("dropout", {n[0], ratio, true}));
  Tensor* kept = n.op("ge", {n.op("rand_like", {n[0]}), ratio});
  n.give(n.op("mul", {n.op("mul", {n[0], n.cast(kept, n.dtype(0))}), 1 / (1 - ratio)}));
  n.give(kept);
}

constexpr ImportRow kRows[] = {
    {"Relu", 6, kNow, unary<"relu">},
    {"Sigmoid", 6, kNow, unary<"sigmoid">},
    {"Softplus", 1, kNow, unary<"softplus">},
    {"Softsign", 1, kNow, unary<"softsign">},
    {"HardSwish", 14, kNow, unary<"hardswish">},
    {"Mish", 18, kNow, unary<"mish">},
    {"LeakyRelu", 6, kNow, leaky_relu},
    {"Elu", 6, kNow, elu},
    {"Celu", 12, kNow, celu},
    {"Selu", 6, kNow, selu},
    {"HardSigmoid", 6, kNow, hard_sigmoid},
    {"Gelu", 20, kNow, gelu},
    {"Swish", 24, kNow, swish},
    {"SwiGLU", 28, kNow, swiglu},
    {"ThresholdedRelu", 10, kNow, thresholded_relu},
    {"Shrink", 9, kNow, shrink},
    {"PRelu", 7, kNow, prelu},
    {"Softmax", 1, kNow, softmax<"softmax">},
    {"LogSoftmax", 1, kNow, softmax<"log_softmax">},
    {"Hardmax", 1, kNow, hardmax},
    {"Dropout", 7, kNow, dropout},
};

}  // namespace

constinit const ImportTable activations_rows = {"", kRows};

}  // namespace thunder::onnx
