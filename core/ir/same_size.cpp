#include "ir/same_size.h"

#include "ir/dim_reads.h"
#include "ir/normal.h"
#include "ir/shape.h"

namespace thunder {

bool same_elements(std::span<const Dim> a, std::span<const Dim> b) {
  const Product left(a), right(b);
  if (left == right) return true;
  const Dim m = elements(a), n = elements(b);
  // A symbol differs from any number and from every other symbol, even where their values were equal.
  return (left.has_formula() || right.has_formula()) && is_equal(m, n);
}

bool same_size(Dim a, Dim b) { return a == b || same_elements({&a, 1}, {&b, 1}); }

}  // namespace thunder
