// Shared by pools of one, two and three dims: windows over the last dims, and shares of them.
#pragma once

#include <algorithm>

#include "ops/tables.h"

namespace thunder::pools {

// One dim of a window: where results lie, and how far the input is padded for them. Numbers are of the size that was
// seen; `count` is how many results any size gives.
struct Window {
  size_t axis;
  int64_t size, kernel, stride, padding, dilation, results, behind;
  Dim count;
};

inline int64_t value_at(const Call& c, size_t param, size_t i, size_t dims, int64_t least) {
  auto given = c.dims(param);
  c.require(given.size() == 1 || given.size() == dims, c.op.schema.params[param].name, " must have one value or ", dims,
            ", got ", name(given));
  const int64_t v = hint(given[given.size() == 1 ? 0 : i]);
  c.require(v >= least && v <= INT32_MAX, c.op.schema.params[param].name, " must be between ", least,
            " and 2147483647, got ", name(given));
  return v;
}
// The windows of the last `dims` dims; parameters: kernel_size, stride, padding, then dilation where there is one.
inline std::vector<Window> windows(const Call& c, Var x, size_t dims, size_t dilation, bool ceil) {
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims, got ",
            name(x.type()));
  std::vector<Window> out;
  for (size_t i = 0; i < dims; i++) {
    Window w{};
    w.axis = x.rank() - dims + i;
    const Dim size = x.shape()[w.axis];
    w.size = hint(size);
    w.kernel = value_at(c, 1, i, dims, 1);
    w.stride = c.has(2) && !c.dims(2).empty() ? value_at(c, 2, i, dims, 1) : w.kernel;
    w.padding = value_at(c, 3, i, dims, 0);
    w.dilation = dilation ? value_at(c, dilation, i, dims, 1) : 1;
    c.require(w.padding <= w.kernel / 2, "padding must be at most half of kernel_size, got ", w.padding, " and ",
              w.kernel);
    const int64_t inside = w.size + 2 * w.padding, more = ceil ? w.stride - 1 : 0;
    const int64_t reach = (w.kernel - 1) * w.dilation + 1;
    c.require(inside + more >= reach, "the kernel reaches over ", reach, " elements, the padded input has ", inside,
              "; ", c.types());
    w.count = (size + (2 * w.padding - reach + more)) / Dim(w.stride) + 1;
    // With ceil_mode, the last window must begin inside of the input or of its left padding.
    if (ceil && (hint(w.count) - 1) * w.stride >= w.size + w.padding) w.count = w.count - 1;
    w.results = hint(w.count);
    // A kernel wider than the padded input is cut to it.
    if (reach > inside) w.kernel = (inside - 1) / w.dilation + 1;
    w.behind = std::max<int64_t>(
        w.padding, (w.results - 1) * w.stride + (w.kernel - 1) * w.dilation + 1 - w.size - w.padding);
    out.push_back(w);
  }
  return out;
}

// Gives the symbolic shape to a result that was computed for the sizes that were seen.
inline Var of_any_size(Var x, const std::vector<Window>& all) {
  Shape shape = x.shape();
  for (const Window& w : all) shape[w.axis] = w.count;
  return reshape_to(x, shape);
}

inline Var padded(Var x, size_t axis, int64_t low, int64_t high, double value) {
  if (low == 0 && high == 0) return x;
  Shape before(x.rank(), 0), behind(x.rank(), 0);
  before[axis] = low, behind[axis] = high;
  return x.builder->call(Prim::pad, {x, before, behind, value});
}

// The elements at place k of each window along its dim, of what was padded for it.
inline Var at_place(Var padded, const Window& w, int64_t k) {
  Shape starts(padded.rank(), 0), ends = padded.shape(), steps(padded.rank(), 1);
  const int64_t start = k * w.dilation;
  starts[w.axis] = start, ends[w.axis] = start + (w.results - 1) * w.stride + 1, steps[w.axis] = w.stride;
  return padded.builder->call(Prim::slice, {padded, starts, ends, steps});
}

// ---- adaptive: as many results as asked for, each of its share of the dim ----

constexpr int64_t kMostShares = 4096;  // each is a slice of its own

// How many results output_size, the first parameter behind the input, asks for along the i-th of `dims` dims.
inline int64_t share_count(const Call& c, Var x, size_t axis, size_t i, size_t dims) {
  const int64_t results = value_at(c, 1, i, dims, -1), n = hint(x.shape()[axis]);
  c.require(n > 0, "the sizes must not be 0, got ", name(x.type()));
  c.require((results > 0 && results <= kMostShares) || results == -1, "output_size must be positive and at most ",
            kMostShares, ", got ", name(c.dims(1)));
  return results == -1 ? n : results;
}

// fold(share, where it begins) of each share.
template <class Fold>
Var shares(Var x, size_t axis, int64_t results, Fold fold) {
  const int64_t n = hint(x.shape()[axis]);
  if (results == n) return x;
  if (results == 1) return fold(x, 0);
  ValueList parts;
  for (int64_t i = 0; i < results; i++) {
    const int64_t start = i * n / results, end = ((i + 1) * n + results - 1) / results;
    parts.push_back(fold(x.builder->call("slice", {x, static_cast<int64_t>(axis), start, end, 1}), start).id);
  }
  return x.builder->call(Prim::cat, {parts, static_cast<int64_t>(axis)});
}

// ---- samples ----

template <size_t dims>
TensorSpec image(int64_t n, bool batched = true, DType d = DType::f32) {
  std::vector<int64_t> shape(dims + (batched ? 2 : 1), n);
  shape[0] = 2;
  if (batched) shape[1] = 1;
  return {shape, d};
}
template <size_t dims>
void sample_max_pools(Samples& s) {
  s.add({image<dims>(5), 2});
  s.add({image<dims>(7, false), 3, 2, 1, 2, true});
  s.refuse({image<dims>(2), 3}, "reaches over 3");
}
template <size_t dims>
void sample_adaptive_pools(Samples& s) {
  s.add({image<dims>(5), 1});
  s.add({image<dims>(5, false), 3});
  s.add({image<dims>(4), -1});
  s.refuse({image<dims>(5), 0}, "positive");
}

}  // namespace thunder::pools
