// Numbers that are known or formulas of symbols, compiled to a flat list of operations: for other values of the symbols
// all are computed in one pass.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/dim.h"

namespace thunder {

// A number, or a place in the list of a Formulas.
struct FormulaRef {
  int64_t number = 0;
  int32_t at = -1;  // -1: it is the number
};

class Formulas {
 public:
  // Formulas that are one expression have one place.
  FormulaRef add(Dim d);
  // The formula that was added.
  Dim dim(const FormulaRef& f) const { return f.at < 0 ? Dim(f.number) : Dim(exprs_[static_cast<size_t>(f.at)]); }
  // The list's values, by place. Throws as Dims::evaluate does.
  std::vector<int64_t> evaluate(std::span<const int64_t> symbols) const;
  static int64_t value(const FormulaRef& f, std::span<const int64_t> values) {
    return f.at < 0 ? f.number : values[static_cast<size_t>(f.at)];
  }

 private:
  FormulaRef add_new(Dim d);

  struct Operation {
    DimOp op;
    FormulaRef a, b;  // of a symbol: its number, and nothing
  };
  std::vector<const DimExpr*> exprs_;  // by place
  std::vector<Operation> operations_;  // operands come before what is made of them
  std::unordered_map<const DimExpr*, int32_t> places_;
};

}  // namespace thunder
