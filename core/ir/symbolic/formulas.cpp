#include "ir/symbolic/formulas.h"

#include <optional>

#include "ir/post_order.h"

namespace thunder {

FormulaRef Formulas::add(Dim d) {
  if (d.constant()) return {d.value(), -1};
  const auto known = places_.find(d.expr());
  return known == places_.end() ? add_new(d) : FormulaRef{0, known->second};
}

FormulaRef Formulas::add_new(Dim d) {
  const auto find = [&](Dim of) -> std::optional<FormulaRef> {
    if (of.constant()) return FormulaRef{of.value(), -1};
    const auto it = places_.find(of.expr());
    return it == places_.end() ? std::nullopt : std::optional(FormulaRef{0, it->second});
  };
  return evaluate_post_order(d, find, [&](const DimExpr& e, const FormulaRef& a, const FormulaRef& b) {
    places_[&e] = static_cast<int32_t>(operations_.size());
    exprs_.push_back(&e), operations_.push_back({e.op, a, b});
  });
}

std::vector<int64_t> Formulas::evaluate(std::span<const int64_t> symbols) const {
  std::vector<int64_t> out;
  out.reserve(operations_.size());
  for (const Operation& o : operations_) {
    const int64_t a = value(o.a, out);
    out.push_back(o.op == DimOp::symbol ? symbols[static_cast<size_t>(a)] : apply(o.op, a, value(o.b, out)));
  }
  return out;
}

}  // namespace thunder
