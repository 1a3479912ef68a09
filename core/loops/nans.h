// Where a largest element may forget of NaN, which costs a comparison for each element to know of.
#pragma once

#include <cstdint>
#include <vector>

#include "loops/bounds.h"

namespace thunder::loops {
namespace nans {

// NaN if an operand is.
inline bool keeps(const Expr& e) {
  if (e.dtype != DType::f32 && e.dtype != DType::f64 && e.dtype != DType::bf16) return false;
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

// The sum of the powers of what is less this largest: one NaN in the row makes it one, whatever the largest is then.
inline bool is_of_powers_less(const Nest& n, ExprId largest, const Expr& e) {
  return e.fn == Fn::sum && bounds_of::is_of_powers_less_their_largest(n, e) && n.exprs[n.exprs[e.in[0]].in[0]].in[1] == largest;
}

}  // namespace nans

// Whether all that is stored and depends on it is NaN anyway where the row has one, as softmax is and what is made of it.
inline bool may_forget_nans(const Nest& n, ExprId largest) {
  if (n.exprs[largest].fn != Fn::amax) return false;
  std::vector<uint8_t> depends(n.exprs.size(), 0), told(n.exprs.size(), 0);
  for (ExprId id = 0; id < n.exprs.size(); id++) {
    const Expr& e = n.exprs[id];
    depends[id] = id == largest, told[id] = nans::is_of_powers_less(n, largest, e);
    for (uint32_t i = 0; i < e.count; i++) depends[id] |= depends[e.in[i]], told[id] |= told[e.in[i]] && nans::keeps(e);
  }
  return std::all_of(n.stores.begin(), n.stores.end(), [&](const Output& s) { return !depends[s.value] || told[s.value]; });
}

}  // namespace thunder::loops
