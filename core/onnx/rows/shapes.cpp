#include <algorithm>

#include "base/text.h"
#include "onnx/host/host.h"
#include "onnx/operands.h"
#include "onnx/rows.h"
#include "onnx/slices.h"

namespace thunder::onnx {
namespace {

void reshape(Node& n) {
  Tensor* x = n[0];
  std::vector<Dim> wanted;
  if (n.opset < 5) {
    for (int64_t d : n.integers("shape")) wanted.push_back(d);
  } else {
    wanted = n.dims(1, "shape");
  }
  const Shape shape = n.shape(0);
  if (!n.flag("allowzero"))
    for (size_t d = 0; d < wanted.size(); d++)
      if (wanted[d] == Dim(0)) {
        n.require(d < shape.size(), "its shape copies dim ", d, " of an input of rank ", shape.size());
        wanted[d] = shape[d];
      }
  n.give(n.op("reshape", {x, wanted}));
}

void flatten(Node& n) {
  const Shape shape = n.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = n.integer("axis", 1);
  if (axis < 0) axis += rank;
  n.require(axis >= 0 && axis <= rank, "its attribute 'axis' is ", n.integer("axis", 1), " for an input of rank ",
            rank);
  Shape flat = {1, 1};
  for (size_t d = 0; d < shape.size(); d++) {
    Dim& part = flat[static_cast<int64_t>(d) < axis ? 0 : 1];
    part = part * shape[d];
  }
  n.give(n.op("reshape", {n[0], flat}));
}

void squeeze(Node& n) {
  const std::vector<int64_t> axes = n.list("axes", 1, 13);
  if (axes.empty()) return n.give(n.op("squeeze", {n[0]}));
  for (int64_t a : axes) {
    const Dim size = n.shape(0)[dim_at(a, n.rank(0))];
    n.require(decide_equal(n, size, 1), "dim ", a, " has ", hint(size), " elements and cannot be squeezed");
  }
  n.give(n.op("squeeze", {n[0], axes}));
}

void unsqueeze(Node& n) {
  const std::vector<int64_t> axes = n.list("axes", 1, 13);
  const size_t rank = n.rank(0) + axes.size();
  std::vector<bool> fresh(rank, false);
  for (int64_t a : axes) {
    const size_t at = dim_at(a, rank);
    n.require(!fresh[at], "its axes have ", a, " twice");
    fresh[at] = true;
  }
  if (axes.size() == 1) return n.give(n.op("unsqueeze", {n[0], axes[0]}));
  Shape shape;
  for (size_t d = 0, old = 0; d < rank; d++) shape.push_back(fresh[d] ? Dim(1) : n.shape(0)[old++]);
  n.give(n.op("reshape", {n[0], shape}));
}

void transpose(Node& n) {
  std::vector<int64_t> perm = n.integers("perm");
  if (perm.empty())
    for (size_t d = n.rank(0); d-- > 0;) perm.push_back(static_cast<int64_t>(d));
  n.give(permuted(n, n[0], perm));
}

// Expand broadcasts in both directions.
void expand(Node& n) {
  const std::vector<Dim> wanted = n.dims(1, "shape");
  const Shape shape = broadcast(n.shape(0), Shape(wanted.begin(), wanted.end()));
  n.give(shape == n.shape(0) ? n[0] : n.op("expand", {n[0], shape}));
}

void concat(Node& n) {
  std::vector<Tensor*> parts;
  for (size_t i = 0; i < n.inputs(); i++) parts.push_back(n[i]);
  for (Tensor* t : parts)
    n.require(t->type().dtype == parts[0]->type().dtype, "its inputs are ", name(t->type()), " and ",
              name(parts[0]->type()), ", they must be of one dtype");
  n.give(n.op("cat", {parts, n.integer("axis", 1)}));
}

void split(Node& n) {
  const size_t axis = dim_at(n.integer("axis", 0), n.rank(0));
  std::vector<Dim> given, sizes;
  if (n.opset < 13) {
    for (int64_t s : n.integers("split")) given.push_back(s);
  } else if (n.has(1)) {
    given = n.dims(1, "split");
  }
  const Dim size = n.shape(0)[axis];
  const auto parts = static_cast<int64_t>(n.outputs());
  if (!given.empty()) {
    sizes = given;
  } else if (!size.constant() && hint(size) % parts == 0 && decide_equal(n, size % parts, 0)) {
    sizes.assign(n.outputs(), size / parts);
  } else {
    for (int64_t s : split_sizes(n, hint(size), {})) sizes.push_back(s);
  }
  for (Tensor* part : n.ops("split", {n[0], sizes, static_cast<int64_t>(axis)})) n.give(part);
}

void slice(Node& n) {
  Tensor* x = n[0];
  std::vector<Cut> cuts;
  // Ends that are computed from data are read.
  for (size_t i = 1; n.opset >= 10 && i < n.inputs(); i++)
    if (n.has(i)) n.require_known(i, i == 1 ? "starts" : i == 2 ? "ends" : i == 3 ? "axes" : "steps");
  known_cuts(n, n.rank(0), cuts);
  for (const Cut& c : cuts) {
    const auto axis = static_cast<int64_t>(c.axis);
    const Dim size = x->type().shape[c.axis];
    if (c.step > 0) {
      const bool whole = c.end.constant() && c.end.value() >= INT32_MAX;
      if (whole && c.start == Dim(0) && c.step == 1) continue;
      if (c.end == size && c.start == Dim(0) && c.step == 1) continue;
      x = n.op("slice", {x, axis, c.start, whole ? Operand(nullptr) : Operand(c.end), c.step});
      continue;
    }
    // Backwards: the same elements from the front, turned around.
    const CutRange r = range_of(c, hint(size));
    const int64_t last = r.count ? r.begin + (r.count - 1) * c.step : 0;
    x = n.op("slice", {x, axis, last, r.count ? r.begin + 1 : 0, r.count > 1 ? -c.step : 1});
    x = n.op("flip", {x, std::vector<int64_t>{axis}});
  }
  n.give(x);
}

void tile(Node& n) {
  n.give(n.op("repeat", {n[0], n.dims(1, "repeats")}));
}

constexpr ImportRow kRows[] = {
    {"Reshape", 1, kNow, reshape, host_reshape},
    {"Flatten", 1, kNow, flatten, host_flatten},
    {"Squeeze", 1, kNow, squeeze, host_squeeze},
    {"Unsqueeze", 1, kNow, unsqueeze, host_unsqueeze},
    {"Transpose", 1, kNow, transpose, host_transpose},
    {"Expand", 8, kNow, expand, host_expand},
    {"Concat", 4, kNow, concat, host_concat},
    {"Split", 2, kNow, split, host_split},
    {"Slice", 1, kNow, slice, host_slice},
    {"Tile", 6, kNow, tile, host_tile},
};

}  // namespace

constinit const ImportTable shapes_rows = {"", kRows};

}  // namespace thunder::onnx
