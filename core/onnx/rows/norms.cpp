#include <algorithm>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// Reshapes [C] so that it broadcasts with [N, C, ...].
Tensor* reshape_for_channels(Node& n, Tensor* t, size_t rank) {
  Shape shape(rank, Dim(1));
  shape[1] = dim_of(t, 0);
  return rank == 2 ? t : n.op("reshape", {t, shape});
}

void batch_norm(Node& n) {
  const double eps = n.real("epsilon", 1e-5f), momentum = n.real("momentum", 0.9f);
  const bool training = n.opset >= 14 && n.flag("training_mode");
  if (n.opset < 9) n.require_attribute("spatial", 1);
  Tensor *x = n[0], *scale = n[1], *bias = n[2], *mean = n[3], *var = n[4];
  if (!training) {
    n.give(n.op("batch_norm", {x, mean, var, scale, bias, false, 0.0, eps}));
    return;
  }
  const size_t rank = n.rank(0);
  n.require(rank >= 2, "its input is of rank ", rank);
  std::vector<int64_t> dims = {0};
  for (size_t d = 2; d < rank; d++) dims.push_back(static_cast<int64_t>(d));
  Tensor* now = n.op("mean", {x, dims});
  Tensor* spread = n.op("var", {x, dims, 0.0});
  Tensor* centred = n.op("sub", {x, reshape_for_channels(n, now, rank)});
  Tensor* factor = n.op("mul", {n.op("rsqrt", {n.op("add", {spread, eps})}), scale});
  n.give(n.op("add",
              {n.op("mul", {centred, reshape_for_channels(n, factor, rank)}), reshape_for_channels(n, bias, rank)}));
  const auto running = [&](Tensor* was, Tensor* is) {
    n.give(n.op("add", {n.op("mul", {was, momentum}), n.op("mul", {is, 1 - momentum})}));
  };
  running(mean, now);
  running(var, spread);
}

void instance_norm(Node& n) {
  n.give(n.op("instance_norm", {n[0], nullptr, nullptr, n[1], n[2], true, 0.0, n.real("epsilon", 1e-5f)}));
}

std::vector<int64_t> last_axes(Node& n, size_t axis) {
  std::vector<int64_t> dims;
  for (size_t d = axis; d < n.rank(0); d++) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

// Computed in float for any input dtype, if stash_type says so.
void layer_norm(Node& n) {
  Tensor *x = n[0], *scale = n[1], *bias = n.tensor_or_null(2);
  const size_t axis = dim_at(n.integer("axis", -1), n.rank(0));
  const double eps = n.real("epsilon", 1e-5f);
  const Shape shape = n.shape(0);
  const Shape over(shape.begin() + axis, shape.end());
  const bool plain =
      scale->type().shape == over && (!bias || bias->type().shape == over) && !n.has_output(1) && !n.has_output(2);
  if (plain) return n.give(n.op("layer_norm", {x, over, scale, bias, eps}));
  const std::vector<int64_t> dims = last_axes(n, axis);
  const DType stash = n.integer("stash_type", 1) == 1 && is_half(n.dtype(0)) ? DType::f32 : n.dtype(0);
  Tensor* wide = n.cast(x, stash);
  Tensor* mean = n.op("mean", {wide, dims, true});
  Tensor* centred = n.op("sub", {wide, mean});
  Tensor* inverse = n.op("rsqrt", {n.op("add", {n.op("mean", {n.op("square", {centred}), dims, true}), eps})});
  Tensor* y = n.op("mul", {n.cast(n.op("mul", {centred, inverse}), n.dtype(0)), scale});
  n.give(bias ? n.op("add", {y, bias}) : y);
  n.give(mean);
  n.give(inverse);
}

void rms_norm(Node& n) {
  Tensor *x = n[0], *scale = n[1];
  const size_t axis = dim_at(n.integer("axis", -1), n.rank(0));
  const double eps = n.real("epsilon", 1e-5f);
  const Shape shape = n.shape(0);
  const Shape over(shape.begin() + axis, shape.end());
  if (scale->type().shape == over) return n.give(n.op("rms_norm", {x, over, scale, eps}));
  const DType stash = n.integer("stash_type", 1) == 1 && is_half(n.dtype(0)) ? DType::f32 : n.dtype(0);
  Tensor* wide = n.cast(x, stash);
  Tensor* square = n.op("mean", {n.op("square", {wide}), last_axes(n, axis), true});
  Tensor* y = n.cast(n.op("mul", {wide, n.op("rsqrt", {n.op("add", {square, eps})})}), n.dtype(0));
  n.give(n.op("mul", {y, scale}));
}

// ONNX Runtime's optimiser puts this one into ONNX's own domain.
void simplified_norm(Node& n) {
  const size_t axis = dim_at(n.integer("axis", -1), n.rank(0));
  const Shape shape = n.shape(0);
  if (n.has_output(1)) n.refuse("its inverse deviation is wanted, which is not imported");
  n.give(n.op("rms_norm", {n[0], Shape(shape.begin() + axis, shape.end()), n[1], n.real("epsilon", 1e-5f)}));
}

// Scale and bias by group before opset 21, by channel since.
void group_norm(Node& n) {
  const int64_t groups = n.count("num_groups");
  const double eps = n.real("epsilon", 1e-5f);
  Tensor *scale = n[1], *bias = n[2];
  if (n.opset < 21) {
    const int64_t channels = hint(n.dim(0, 1));
    n.require(groups > 0 && channels % groups == 0, "it has ", channels, " channels and ", groups, " groups");
    const auto repeated = [&](Tensor* t) { return n.op("repeat_interleave", {t, channels / groups, 0}); };
    scale = repeated(scale), bias = repeated(bias);
  }
  n.give(n.op("group_norm", {n[0], groups, scale, bias, eps}));
}

// The sum of squares over channels in (c - (size - 1) / 2, c + size / 2).
void local_response_norm(Node& n) {
  const int64_t size = n.count("size");
  n.require(size >= 1, "its attribute 'size' is ", size);
  Tensor* x = n[0];
  const size_t rank = n.rank(0);
  n.require(rank >= 2, "its input is of rank ", rank);
  std::vector<int64_t> pads(2 * (rank - 1), 0);
  pads[pads.size() - 2] = (size - 1) / 2, pads[pads.size() - 1] = size / 2;
  Tensor* squares = n.op("pad", {n.op("square", {x}), pads, "constant", 0.0});
  Tensor* sums = n.op("sum", {n.op("unfold", {squares, 1, size, 1}), std::vector<int64_t>{-1}});
  Tensor* base =
      n.op("add", {n.op("mul", {sums, n.real("alpha", 1e-4f) / static_cast<double>(size)}), n.real("bias", 1)});
  n.give(n.op("div", {x, n.op("pow", {base, n.real("beta", 0.75)})}));
}

void lp_norm(Node& n) {
  const int64_t p = n.integer("p", 2);
  n.require(p == 1 || p == 2, "its attribute 'p' is ", p);
  const std::vector<int64_t> dim = {n.integer("axis", -1)};
  Tensor* norm = p == 1 ? n.op("sum", {n.op("abs", {n[0]}), dim, true})
                        : n.op("sqrt", {n.op("sum", {n.op("square", {n[0]}), dim, true})});
  // The result is zero where the norm is zero.
  Tensor* safe = n.op("where", {n.op("eq", {norm, 0.0}), n.constant(1, n.dtype(0)), norm});
  n.give(n.op("div", {n[0], safe}));
}

void mean_variance_norm(Node& n) {
  std::vector<int64_t> axes = n.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  Tensor* centred = n.op("sub", {n[0], n.op("mean", {n[0], axes, true})});
  Tensor* deviation = n.op("sqrt", {n.op("mean", {n.op("square", {centred}), axes, true})});
  n.give(n.op("div", {centred, n.op("add", {deviation, 1e-9})}));
}

constexpr ImportRow kRows[] = {
    {"BatchNormalization", 7, kNow, batch_norm},
    {"InstanceNormalization", 6, kNow, instance_norm},
    {"LayerNormalization", 17, kNow, layer_norm},
    {"RMSNormalization", 23, kNow, rms_norm},
    {"SimplifiedLayerNormalization", 1, kNow, simplified_norm},
    {"GroupNormalization", 18, kNow, group_norm},
    {"LRN", 1, kNow, local_response_norm},
    {"LpNormalization", 1, kNow, lp_norm},
    {"MeanVarianceNormalization", 9, kNow, mean_variance_norm},
};

}  // namespace

constinit const ImportTable norms_rows = {"", kRows};

}  // namespace thunder::onnx
