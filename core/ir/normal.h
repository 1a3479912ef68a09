// Normal forms of sizes, so that equal ones are seen as equal: 4 * s0 and s0 * 2 * 2, or (s0 - 1) + 3 and s0 + 2.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/dim.h"

namespace thunder {

// A product of dims.
class Product {
 public:
  // Throws when the constant part does not fit in 64 bits. A zero anywhere makes all of it zero.
  explicit Product(std::span<const Dim> dims);

  // The quotient if `divisor` divides this whatever the symbols are. Requires: divisor is not zero.
  std::optional<Dim> divide(const Product& divisor) const;
  bool zero() const { return constant_ == 0; }
  // Whether a factor is more than a symbol, so that it may be the same as others that are written differently.
  bool has_formula() const;
  friend bool operator==(const Product&, const Product&) = default;

 private:
  int64_t constant_ = 1;
  std::vector<const DimExpr*> factors_;  // sorted; none is a product
};

// a - b if it is the same whatever the symbols are.
std::optional<int64_t> difference(Dim a, Dim b);

// How many elements lie in start, start + stride ... below end. Requires: start <= end, stride > 0.
Dim steps(Dim start, Dim end, Dim stride);

}  // namespace thunder
