#include "ir/product.h"

#include <algorithm>
#include <functional>

namespace thunder {

Product::Product(std::span<const Dim> dims) {
  std::vector<Dim> open(dims.begin(), dims.end());
  std::vector<int64_t> constants;
  while (!open.empty()) {
    const Dim d = open.back();
    open.pop_back();
    if (d.constant()) {
      constants.push_back(d.value());
    } else if (d.expr()->op == DimOp::mul) {
      open.push_back(d.expr()->a);
      open.push_back(d.expr()->b);
    } else {
      factors_.push_back(d.expr());
    }
  }
  if (std::find(constants.begin(), constants.end(), 0) != constants.end()) {
    constant_ = 0;
    factors_.clear();
    return;
  }
  Dim constant = 1;
  for (int64_t n : constants) constant = constant * n;
  constant_ = constant.value();
  std::sort(factors_.begin(), factors_.end(), std::less<>());
}

std::optional<Dim> Product::divide(const Product& divisor) const {
  if (zero()) return Dim(0);
  if (constant_ % divisor.constant_) return std::nullopt;
  std::vector<const DimExpr*> rest;
  std::set_difference(factors_.begin(), factors_.end(), divisor.factors_.begin(), divisor.factors_.end(), std::back_inserter(rest),
                      std::less<>());
  if (rest.size() + divisor.factors_.size() != factors_.size()) return std::nullopt;
  Dim quotient = constant_ / divisor.constant_;
  for (const DimExpr* e : rest) quotient = quotient * Dim(e);
  return quotient;
}

}  // namespace thunder
