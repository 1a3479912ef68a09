// The product of some dims in a normal form, so that equal element counts are seen as equal: 4 * s0 and s0 * 2 * 2.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/dim.h"

namespace thunder {

class Product {
 public:
  // Throws when the constant part does not fit in 64 bits. A zero anywhere makes all of it zero.
  explicit Product(std::span<const Dim> dims);

  // The quotient if `divisor` divides this whatever the symbols are. Requires: divisor is not zero.
  std::optional<Dim> divide(const Product& divisor) const;
  bool zero() const { return constant_ == 0; }
  friend bool operator==(const Product&, const Product&) = default;

 private:
  int64_t constant_ = 1;
  std::vector<const DimExpr*> factors_;  // sorted; none is a product
};

}  // namespace thunder
