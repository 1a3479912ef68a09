// The lines of a tensor along one dim: what sorts, scans and other kernels work on that look at whole lines.
#pragma once

#include "ops/elementwise.h"
#include "ops/indices.h"

namespace thunder {

inline Reshaped without_axis(const Buffer& b, size_t axis) {
  Sizes sizes(b.shape, b.shape + b.rank), strides(b.strides, b.strides + b.rank);
  if (b.rank) sizes.erase(axis), strides.erase(axis);
  return {b, std::move(sizes), std::move(strides)};
}

// Elements of one line that lie a step apart.
template <class T>
struct Line {
  T* data;
  int64_t size, step;
  T& operator[](int64_t i) const { return data[i * step]; }
};
template <class T>
Line<T> line_at(const Buffer& b, size_t axis, int64_t offset) {
  return {b.as<T>() + offset, b.rank ? b.shape[axis] : 1, b.rank ? b.strides[axis] : 0};
}

// Calls f(offset in `in`, in a, in b) where each line along `axis` begins. a and b have the axis too, or lost it
// (`reduced`).
template <class F>
void each_line(const Buffer& in, const Buffer& a, const Buffer& b, size_t axis, bool reduced, F f) {
  const Reshaped from = without_axis(in, axis);
  const bool lost = reduced || in.rank == 0;
  const Reshaped to_a = lost ? Reshaped(a, Sizes(a.shape, a.shape + a.rank), Sizes(a.strides, a.strides + a.rank))
                             : without_axis(a, axis);
  const Reshaped to_b = lost ? Reshaped(b, Sizes(b.shape, b.shape + b.rank), Sizes(b.strides, b.strides + b.rank))
                             : without_axis(b, axis);
  Rows<3> rows(from.buffer, {&from.buffer, &to_a.buffer, &to_b.buffer});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i++)
      f(rows.offset[0] + i * rows.step[0], rows.offset[1] + i * rows.step[1], rows.offset[2] + i * rows.step[2]);
}

// The gradient of results each of which is one element of the input, at the place along dim (args[1]) that the second
// result says.
inline void picked_vjp(Grad& g) {
  if (!g.reached(0)) return;
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call("prims.scatter_add", {zeros, g.integer(1), g.result(1), ct}));
}

// NaN is greater than every number, as in PyTorch's orders.
template <class T>
bool precedes(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace thunder
