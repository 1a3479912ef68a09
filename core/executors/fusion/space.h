// The iteration space of a group: which loop axes the dims of each value consist of.
//
// A dim is a product of axes, outermost first; a dim of size 1 has none. Where nodes read each other's values, their
// axes are unified (as in union-find), and split where a reshape needs it. So [B, T, C] and [B * T, C] have the same
// loops.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "ir/shape.h"
#include "ir/symbolic/size.h"

namespace thunder::fusion {

using AxisId = uint32_t;
using Dimension = SmallVector<AxisId, 4>;
using Coordinates = std::vector<Dimension>;  // by dim of a value

// Sets of axes.
using Axes = SmallVector<AxisId, 8>;  // sorted

inline Axes sorted_axes(const Dimension& d) {
  Axes out(d.begin(), d.end());
  std::sort(out.begin(), out.end());
  return out;
}
inline Axes axes_difference(const Axes& a, const Axes& b) {
  Axes out;
  out.resize_uninitialized(a.size());
  const auto end = std::set_difference(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  out.resize_uninitialized(static_cast<size_t>(end - out.begin()));
  return out;
}
inline Axes axes_union(const Axes& a, const Axes& b) {
  Axes out;
  out.resize_uninitialized(a.size() + b.size());
  const auto end = std::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  out.resize_uninitialized(static_cast<size_t>(std::unique(out.begin(), end) - out.begin()));
  return out;
}

class Space {
 public:
  AxisId add_axes(const Size& extent);
  Coordinates add_axes(std::span<const Dim> shape);

  // The axes that a dim consists of now, after all splits and unifications.
  Dimension resolve(const Dimension& d) const;
  Coordinates resolve(const Coordinates& c) const;
  Dimension flatten(const Coordinates& c) const;  // all of a value's axes, resolved
  const Size& extent(AxisId a) const { return axes_[a].extent; }

  // Unifies the axes of both. False: their sizes do not divide each other, and the space must not be used any more.
  bool unify(const Dimension& a, const Dimension& b);
  bool unify(const Coordinates& a, const Coordinates& b);

  // Coordinates of the same elements in row-major order under another shape.
  std::optional<Coordinates> reshape(const Coordinates& from, std::span<const Dim> to);

 private:
  struct Axis {
    Size extent;
    Dimension replacement;  // the axes that replace it; empty: it is still an axis
  };
  std::pair<AxisId, AxisId> split(AxisId a, const Size& inner);
  void append_resolved(Dimension& out, AxisId a) const;
  std::vector<Axis> axes_;
};

}  // namespace thunder::fusion
