#include "ir/shape.h"

#include "base/text.h"
#include "ir/same_size.h"

namespace thunder {

Dim elements(std::span<const Dim> shape) {
  Dim n = 1;
  // A zero anywhere makes the product zero, so it cannot overflow, whatever the other sizes are.
  for (Dim d : shape)
    if (d == Dim(0)) return 0;
  for (Dim d : shape) n = n * d;
  return n;
}

void append(std::string& out, std::span<const Dim> shape) {
  out += cat("[", join(shape, ", ", [](Dim d) { return name(d); }), "]");
}

size_t normalize_axis(int64_t axis, size_t rank) {
  const int64_t r = rank == 0 ? 1 : static_cast<int64_t>(rank);
  if (axis < -r || axis >= r)
    fail(Code::out_of_range, "dim ", axis, " is out of range for a tensor of rank ", rank, " (expected ", -r, " to ",
         r - 1, ")");
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

Shape broadcast(std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape out(a);
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); i++) {
    Dim x = a[shift + i], y = b[i];
    if (y == Dim(1) || same_size(x, y)) continue;
    require(x == Dim(1), "shapes ", name(a), " and ", name(b), " do not broadcast: dim ", shift + i, " is ", name(x),
            " and ", name(y));
    out[shift + i] = y;
  }
  return out;
}

Sizes concrete(std::span<const Dim> shape) {
  Sizes out;
  for (Dim d : shape) out.push_back(d.value());
  return out;
}

}  // namespace thunder
