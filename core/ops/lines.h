// The lines of a tensor along one dim: what sorts, scans and other kernels work on that look at whole lines.
#pragma once

#include "ops/elementwise.h"
#include "ops/indices.h"

namespace thunder {

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
bool side_by_side(const Buffer& in, size_t axis);

// All lines along `axis` of three views, in groups of up to `most` neighbours of a row. The views a and b have the axis
// too, or lost it (`reduced`).
class LineGroups {
 public:
  LineGroups(std::array<const Buffer*, 3> views, size_t axis, bool reduced, int64_t most);
  int64_t count() const { return rows_.rows() * per_row_; }

  // The groups from number `begin` on, one after the other.
  class Cursor {
   public:
    Cursor(const LineGroups& all, int64_t begin);
    const LineGroup& next();

   private:
    int64_t at_, most_, per_row_;
    bool fresh_ = true;
    Rows<3> rows_;
    LineGroup group_;
  };

 private:
  int64_t most_, per_row_;
  Rows<3> rows_;
};

// Calls f(group, own) for all lines, on the threads of the kernel, each of which has a copy of `own` for itself. Gives
// what f refused first.
template <class Own, class F>
Status* each_line_group(const KernelArgs& k, std::array<const Buffer*, 3> views, size_t axis, bool reduced,
                        int64_t most, const Own& own, const F& f) {
  const LineGroups all(views, axis, reduced, most);
  return in_parts(k, all.count(), views[0]->elements(), [&](int64_t begin, int64_t end) -> Status* {
    Own mine = own;
    LineGroups::Cursor cursor(all, begin);
    for (int64_t at = begin; at < end; at++)
      if (Status* refused = f(cursor.next(), mine)) return refused;
    return nullptr;
  });
}
// Calls f(where the line begins in `in`, in a, in b, own) for each line.
template <class Own, class F>
void each_line(const KernelArgs& k, const Buffer& in, const Buffer& a, const Buffer& b, size_t axis, const Own& own,
               const F& f) {
  Status* none = each_line_group(k, {&in, &a, &b}, axis, false, 1, own, [&](const LineGroup& g, Own& mine) -> Status* {
    f(g.in[0], g.a[0], g.b[0], mine);
    return nullptr;
  });
  (void)none;  // f refuses nothing
}

// The gradient of results each of which is one element of the input, at the place along dim (args[1]) that the second
// result says.
void picked_vjp(Grad& g);

// NaN is greater than every number, as in PyTorch's orders.
template <class T>
bool precedes(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace thunder
