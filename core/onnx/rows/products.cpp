#include <algorithm>

#include "base/text.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void gemm(Node& n) {
  Tensor *a = n[0], *b = n[1], *c = n.tensor_or_null(2);
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  const bool integers = !is_real(n.dtype(0));
  if (n.flag("transA")) a = n.op("transpose", {a, 0, 1});
  // x @ transposed weights + bias is a layer.
  const bool layer = n.flag("transB") && alpha == 1 && beta == 1 && !integers && (!c || c->type().rank() == 1);
  if (layer) return n.give(n.op("linear", {a, b, c}));
  if (n.flag("transB")) b = n.op("transpose", {b, 0, 1});
  const auto scaled = [&](Tensor* t, double by) {
    if (by == 1) return t;
    return integers ? n.cast(n.op("mul", {t, by}), n.dtype(0)) : n.op("mul", {t, by});
  };
  Tensor* y = scaled(n.op("matmul", {a, b}), alpha);
  n.give(c ? n.op("add", {y, scaled(c, beta)}) : y);
}

void einsum(Node& n) {
  std::vector<Tensor*> operands;
  for (size_t i = 0; i < n.inputs(); i++) operands.push_back(n[i]);
  n.give(n.op("einsum", {n.text("equation", ""), operands}));
}

constexpr ImportRow kRows[] = {
    {"MatMul", 1, kLatestOpset, binary<"matmul">},
    {"Gemm", 7, kLatestOpset, gemm},
    {"Einsum", 12, kLatestOpset, einsum},
    {"Det", 11, kLatestOpset, unary<"linalg_det">},
};

}  // namespace

constinit const ImportTable products_rows = {"", kRows};

}  // namespace thunder::onnx
