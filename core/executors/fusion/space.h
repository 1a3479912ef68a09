// The iteration space of a group of lines: of which loop axes the dims of each value are made.
//
// A dim is a product of axes, outermost first; a dim of size 1 has none. Lines that meet unify their axes, and split
// them where a reshape asks for it, so that [B, T, C] and [B * T, C] are walked by the same loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "ir/shape.h"

namespace thunder::fusion {

using AxisId = uint32_t;
using Dimension = SmallVector<AxisId, 4>;
using Coordinates = std::vector<Dimension>;  // by dim of a value

class Space {
 public:
  AxisId fresh(int64_t extent);
  Coordinates fresh(std::span<const Dim> shape);

  // The axes that a dim is made of by now.
  Dimension resolve(const Dimension& d) const;
  Coordinates resolve(const Coordinates& c) const;
  Dimension flat(const Coordinates& c) const;  // all of a value's axes, resolved
  int64_t extent(AxisId a) const { return axes_[a].extent; }

  // Makes both be walked by the same axes. False: sizes do not divide; the space is then spoilt.
  bool unify(const Dimension& a, const Dimension& b);
  bool unify(const Coordinates& a, const Coordinates& b);

  // The same elements in row-major order under another shape.
  std::optional<Coordinates> reshape(const Coordinates& from, std::span<const Dim> to);

 private:
  struct Axis {
    int64_t extent;
    Dimension becomes;  // empty: itself
  };
  std::pair<AxisId, AxisId> split(AxisId a, int64_t inner);
  void append(Dimension& out, AxisId a) const;
  std::vector<Axis> axes_;
};

}  // namespace thunder::fusion
