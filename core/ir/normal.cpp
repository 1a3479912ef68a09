#include "ir/normal.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/checked.h"
#include "ir/shape.h"

namespace thunder {

Product::Product(std::span<const Dim> dims) {
  if (std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.constant(); })) {
    constant_ = elements(dims).value();
    return;
  }
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
  std::set_difference(factors_.begin(), factors_.end(), divisor.factors_.begin(), divisor.factors_.end(),
                      std::back_inserter(rest), std::less<>());
  if (rest.size() + divisor.factors_.size() != factors_.size()) return std::nullopt;
  Dim quotient = constant_ / divisor.constant_;
  for (const DimExpr* e : rest) quotient = quotient * Dim(e);
  return quotient;
}

bool Product::has_formula() const {
  return std::any_of(factors_.begin(), factors_.end(), [](const DimExpr* e) { return e->op != DimOp::symbol; });
}

std::optional<int64_t> difference(Dim a, Dim b) {
  // Writes both as sums of terms, each with its factor.
  struct Open {
    Dim dim;
    int64_t factor;
  };
  std::vector<Open> open{{a, 1}, {b, -1}};
  std::map<const DimExpr*, int64_t> terms;
  int64_t constant = 0;
  Checked sum;
  while (!open.empty()) {
    const auto [d, factor] = open.back();
    open.pop_back();
    if (!sum.fits) return std::nullopt;
    if (d.constant()) {
      constant = sum.add(constant, sum.mul(d.value(), factor));
      continue;
    }
    const DimExpr& e = *d.expr();
    if (e.op == DimOp::add || e.op == DimOp::sub) {
      open.push_back({e.a, factor});
      open.push_back({e.b, e.op == DimOp::add ? factor : sum.sub(0, factor)});
    } else if (e.op == DimOp::mul && (e.a.constant() || e.b.constant())) {
      open.push_back({e.a.constant() ? e.b : e.a, sum.mul((e.a.constant() ? e.a : e.b).value(), factor)});
    } else {
      terms[&e] = sum.add(terms[&e], factor);
    }
  }
  if (!sum.fits) return std::nullopt;
  for (auto& [term, factor] : terms)
    if (factor != 0) return std::nullopt;
  return constant;
}

Dim steps(Dim start, Dim end, Dim stride) {
  auto known = difference(end, start);
  const Dim length = known ? Dim(*known) : end - start;
  if (length == Dim(0) || stride == Dim(1)) return length;
  return (length - 1) / stride + 1;
}

}  // namespace thunder
