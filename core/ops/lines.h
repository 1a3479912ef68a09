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

// Neighbouring lines: where each begins in three views, in elements.
struct LineGroup {
  static constexpr int64_t kMost = 16;
  int64_t count = 0;
  std::array<int64_t, kMost> in, a, b;
};
// Whether neighbouring lines lie closer together than the elements of each, so that they are read side by side.
inline bool side_by_side(const Buffer& in, size_t axis) {
  if (in.rank == 0) return false;
  for (size_t i = 0; i < static_cast<size_t>(in.rank); i++)
    if (i != axis && in.shape[i] > 1 && std::abs(in.strides[i]) < std::abs(in.strides[axis])) return true;
  return false;
}

// Calls f(group, own) for all lines along `axis`, on the threads of the kernel: groups of up to `most` neighbours of a
// row, each with what one thread has for itself, a copy of `own`. The views a and b have the axis too, or lost it
// (`reduced`). Gives what f refused first.
template <class Own, class F>
Status* each_line_group(const Kernel& k, std::array<const Buffer*, 3> views, size_t axis, bool reduced, int64_t most,
                        const Own& own, const F& f) {
  const Buffer &in = *views[0], &a = *views[1], &b = *views[2];
  const bool lost = reduced || in.rank == 0;
  const auto as_it_is = [](const Buffer& v) {
    return Reshaped(v, Sizes(v.shape, v.shape + v.rank), Sizes(v.strides, v.strides + v.rank));
  };
  const Reshaped from = without_axis(in, axis), to_a = lost ? as_it_is(a) : without_axis(a, axis),
                 to_b = lost ? as_it_is(b) : without_axis(b, axis);
  const Rows<3> all(from.buffer, {&from.buffer, &to_a.buffer, &to_b.buffer});
  const int64_t per_row = (all.row() + most - 1) / std::max<int64_t>(most, 1);
  return in_parts(k, all.rows() * per_row, in.elements(), [&](int64_t begin, int64_t end) -> Status* {
    Own mine = own;
    Rows<3> rows = all;
    rows.seek(begin / per_row);
    for (int64_t at = begin; at < end; at++) {
      const int64_t first = at % per_row * most;
      if (at > begin && first == 0) rows.next();
      LineGroup group;
      for (int64_t i = first; i < std::min(first + most, rows.row()); i++) {
        const auto n = static_cast<size_t>(group.count++);
        group.in[n] = rows.offset[0] + i * rows.step[0];
        group.a[n] = rows.offset[1] + i * rows.step[1], group.b[n] = rows.offset[2] + i * rows.step[2];
      }
      if (Status* refused = f(group, mine)) return refused;
    }
    return nullptr;
  });
}
// Calls f(where the line begins in `in`, in a, in b, own) for each line.
template <class Own, class F>
void each_line(const Kernel& k, const Buffer& in, const Buffer& a, const Buffer& b, size_t axis, const Own& own,
               const F& f) {
  Status* none = each_line_group(k, {&in, &a, &b}, axis, false, 1, own, [&](const LineGroup& g, Own& mine) -> Status* {
    f(g.in[0], g.a[0], g.b[0], mine);
    return nullptr;
  });
  (void)none;  // f refuses nothing
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
