// Value ranges of expressions, found without computing them.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "loops/nest.h"

namespace thunder::loops {

// Every element is within [low, high], or NaN. Rounding keeps ranges whose ends are floats, such as 0 and 1.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool is_within(double magnitude) const { return low >= -magnitude && high <= magnitude; }
};

namespace value_range {

inline ValueRange product(const ValueRange& a, const ValueRange& b) {
  double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  for (double& c : corners)
    if (std::isnan(c)) c = 0;  // zero times an infinite end
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

// x less the maximum of its row is not positive.
template <class S>
bool is_minus_row_maximum(const NestOf<S>& n, const ExprOf<S>& e) {
  const ExprOf<S>& other = n.exprs[e.in[1]];
  return e.fn == Fn::sub && other.fn == Fn::amax && other.in[0] == e.in[0];
}

// The sum of exponentials of x less its row's maximum is at least 1: one of them is 1, and none is negative.
template <class S>
bool is_softmax_denominator(const NestOf<S>& n, const ExprOf<S>& e) {
  const ExprOf<S>& power = n.exprs[e.in[0]];
  return power.fn == Fn::exp && is_minus_row_maximum(n, n.exprs[power.in[0]]);
}

template <class S>
ValueRange real_range(const NestOf<S>& n, const ExprOf<S>& e, const std::vector<ValueRange>& known) {
  const auto of = [&](uint32_t i) -> const ValueRange& { return known[e.in[i]]; };
  switch (e.fn) {
    case Fn::sin:
    case Fn::cos:
    case Fn::tanh:
    case Fn::erf: return {-1, 1};
    case Fn::uniform: return {0, 1};
    case Fn::number: return {e.number, e.number};
    case Fn::neg: return {-of(0).high, -of(0).low};
    case Fn::abs: return {0, std::max(-of(0).low, of(0).high)};
    case Fn::sqrt: return {0, std::numeric_limits<double>::infinity()};
    case Fn::exp: return {0, of(0).high <= 0 ? 1 : std::numeric_limits<double>::infinity()};
    case Fn::mul:
      return e.in[0] == e.in[1] ? ValueRange{0, std::numeric_limits<double>::infinity()} : product(of(0), of(1));
    case Fn::sum:
      return {is_softmax_denominator(n, e) ? 1 : -std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::infinity()};
    case Fn::sub: return is_minus_row_maximum(n, e) ? ValueRange{.high = 0} : ValueRange();
    default: return {};
  }
}

}  // namespace value_range

// By expression. Integers wrap, so nothing is known of them.
template <class S>
std::vector<ValueRange> value_ranges(const NestOf<S>& n) {
  std::vector<ValueRange> out;
  out.reserve(n.exprs.size());
  for (const ExprOf<S>& e : n.exprs) {
    out.push_back(is_real(e.dtype) ? value_range::real_range(n, e, out) : ValueRange());
  }
  return out;
}

}  // namespace thunder::loops
