#include <algorithm>
#include <limits>

#include "onnx/host/host.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// The axes; false: none is reduced. ReduceSum had them as an input five versions before the others.
struct Axes {
  std::vector<int64_t> dims;
  bool keep = true, none = false;
};
Axes axes_of(Node& n) {
  Axes a;
  a.keep = n.flag("keepdims", true);
  a.dims = n.list("axes", 1, n.name() == "ReduceSum" ? 13 : 18);
  if (a.dims.empty()) {
    a.none = n.flag("noop_with_empty_axes");
    a.dims = all_axes(n.rank(0));
  }
  return a;
}

Tensor* sum(Node& n, Tensor* x, const Axes& a) {
  if (a.none || a.dims.empty()) return x;
  return n.op("sum", {x, a.dims, a.keep, x->type().dtype});
}

void reduce_sum(Node& n) {
  n.give(sum(n, n[0], axes_of(n)));
}

void reduce_mean(Node& n) {
  const Axes a = axes_of(n);
  if (a.none || a.dims.empty()) return n.give(n[0]);
  const DType dtype = n.dtype(0);
  if (is_real(dtype)) return n.give(n.op("mean", {n[0], a.dims, a.keep}));
  Dim count = 1;
  for (int64_t d : a.dims) count = count * n.shape(0)[dim_at(d, n.rank(0))];
  n.give(n.cast(n.op("div", {sum(n, n[0], a), count, "trunc"}), dtype));
}

// The maximum of no elements is the lowest number, the minimum the greatest.
Tensor* extreme_of_no_elements(Node& n, const Axes& a, bool greatest) {
  const DTypeInfo& dtype = info(n.dtype(0));
  const bool real = is_real(dtype.dtype);
  const double low = real ? -std::numeric_limits<double>::infinity() : dtype.is_signed ? -dtype.largest - 1 : 0;
  const double high = real ? std::numeric_limits<double>::infinity() : dtype.largest;
  Tensor* sums = n.op("sum", {n.cast(n[0], DType::f32), a.dims, a.keep});
  return n.op("full", {sums->type().shape, greatest ? low : high, dtype.dtype, n[0]->type().device});
}

template <OpName name>
void reduce_extreme(Node& n) {
  const Axes a = axes_of(n);
  if (a.none || a.dims.empty()) return n.give(n[0]);
  for (int64_t d : a.dims)
    if (n.shape(0)[dim_at(d, n.rank(0))] == Dim(0))
      return n.give(extreme_of_no_elements(n, a, std::string_view(name.text) == "amax"));
  n.give(n.op(name.text, {n[0], a.dims, a.keep}));
}

// The product over one dim after another, last first, so that the others stay where they are.
void reduce_prod(Node& n) {
  const Axes a = axes_of(n);
  Tensor* x = n[0];
  if (a.none) return n.give(x);
  std::vector<int64_t> dims;
  for (int64_t d : a.dims) dims.push_back(static_cast<int64_t>(dim_at(d, n.rank(0))));
  std::sort(dims.rbegin(), dims.rend());
  for (int64_t d : dims) x = n.op("prod", {x, d, a.keep, n.dtype(0)});
  n.give(x);
}

void reduce_l1(Node& n) {
  n.give(sum(n, n.op("abs", {n[0]}), axes_of(n)));
}
void reduce_sum_square(Node& n) {
  n.give(sum(n, n.op("mul", {n[0], n[0]}), axes_of(n)));
}
void reduce_l2(Node& n) {
  const DType dtype = n.dtype(0);
  Tensor* x = is_real(dtype) ? n[0] : n.cast(n[0], DType::f64);
  n.give(n.cast(n.op("sqrt", {sum(n, n.op("mul", {x, x}), axes_of(n))}), dtype));
}
void reduce_log_sum(Node& n) {
  const DType dtype = n.dtype(0);
  n.give(n.cast(n.op("log", {sum(n, n[0], axes_of(n))}), dtype));
}
void reduce_log_sum_exp(Node& n) {
  const Axes a = axes_of(n);
  const DType dtype = n.dtype(0);
  Tensor* x = is_real(dtype) ? n[0] : n.cast(n[0], DType::f64);
  if (a.none || a.dims.empty()) return n.give(n.cast(n.op("log", {n.op("exp", {x})}), dtype));
  n.give(n.cast(n.op("logsumexp", {x, a.dims, a.keep}), dtype));
}

template <OpName name>
void arg(Node& n) {
  Tensor* x = n[0];
  const auto axis = static_cast<int64_t>(dim_at(n.integer("axis", 0), n.rank(0)));
  const bool keep = n.flag("keepdims", true);
  if (!n.flag("select_last_index")) return n.give(n.op(name.text, {x, axis, keep}));
  // The last is the first from the back.
  Tensor* back = n.op(name.text, {n.op("flip", {x, std::vector<int64_t>{axis}}), axis, keep});
  n.give(n.op("add", {n.op("neg", {back}), n.shape(0)[static_cast<size_t>(axis)] - 1}));
}

constexpr ImportRow kRows[] = {
    {"ReduceSum", 1, kNow, reduce_sum, host_reduce_sum},
    {"ReduceMean", 1, kNow, reduce_mean},
    {"ReduceMax", 1, kNow, reduce_extreme<"amax">},
    {"ReduceMin", 1, kNow, reduce_extreme<"amin">},
    {"ReduceProd", 1, kNow, reduce_prod, host_reduce_prod},
    {"ReduceL1", 1, kNow, reduce_l1},
    {"ReduceL2", 1, kNow, reduce_l2},
    {"ReduceSumSquare", 1, kNow, reduce_sum_square},
    {"ReduceLogSum", 1, kNow, reduce_log_sum},
    {"ReduceLogSumExp", 1, kNow, reduce_log_sum_exp},
    {"ArgMax", 1, kNow, arg<"argmax">},
    {"ArgMin", 1, kNow, arg<"argmin">},
};

}  // namespace

constinit const ImportTable reductions_rows = {"", kRows};

}  // namespace thunder::onnx
