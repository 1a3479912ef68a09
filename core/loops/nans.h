// Finds maxima that need not propagate NaN, since propagating it costs a comparison for each element.
#pragma once

#include <cstdint>
#include <vector>

#include "loops/value_ranges.h"

namespace thunder::loops {
namespace nans {

// Whether the function gives NaN if an operand is NaN.
inline bool propagates_nan(const Expr& e) {
  if (!is_real(e.dtype)) return false;
  switch (e.fn) {
    case Fn::neg:
    case Fn::exp:
    case Fn::log:
    case Fn::sqrt:
    case Fn::rsqrt:
    case Fn::reciprocal:
    case Fn::convert:
    case Fn::add:
    case Fn::sub:
    case Fn::mul:
    case Fn::div:
    case Fn::sum: return true;
    default: return false;
  }
}

// Whether the expression is the sum of exponentials of x less this maximum: one NaN in the row makes that NaN, whatever
// the maximum is.
inline bool is_softmax_denominator_of(const Nest& n, ExprId largest, const Expr& e) {
  return e.fn == Fn::sum && value_range::is_softmax_denominator(n, e) &&
         n.exprs[n.exprs[e.in[0]].in[0]].in[1] == largest;
}

}  // namespace nans

// Whether every stored result that depends on the maximum is NaN anyway if the row has a NaN, as in softmax.
inline bool may_ignore_nans(const Nest& n, ExprId largest) {
  if (n.exprs[largest].fn != Fn::amax) return false;
  std::vector<uint8_t> depends(n.exprs.size(), 0), propagated(n.exprs.size(), 0);
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const Expr& e = n.exprs[id];
    depends[id] = id == largest;
    propagated[id] = nans::is_softmax_denominator_of(n, largest, e);
    for (uint32_t i = 0; i < e.count; i++) {
      depends[id] |= depends[e.in[i]];
      propagated[id] |= propagated[e.in[i]] && nans::propagates_nan(e);
    }
  }
  return std::all_of(n.stores.begin(), n.stores.end(),
                     [&](const Output& s) { return !depends[s.value] || propagated[s.value]; });
}

}  // namespace thunder::loops
