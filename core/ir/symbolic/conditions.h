// Comparisons of symbols that were decided, compiled, so that other values of the symbols are checked in one pass.
#pragma once

#include <span>
#include <vector>

#include "ir/dim_reads.h"
#include "ir/symbolic/formulas.h"

namespace thunder {

class Conditions {
 public:
  Conditions() = default;
  explicit Conditions(std::span<const DimCondition> all);
  // Whether these values of the symbols lead to the same decisions. Throws where a formula has no value.
  bool hold_for(std::span<const int64_t> symbols) const;

 private:
  struct One {
    FormulaRef a, b;
    DimCondition::Is is;
    bool holds;
  };
  Formulas formulas_;
  std::vector<One> all_;
};

}  // namespace thunder
