// What is known of the values of expressions before they are computed.
#pragma once

#include <cmath>
#include <limits>

#include "executors/fusion/nest.h"

namespace thunder::fusion {

// No element is greater than this, nor less than its negative, unless it is NaN; infinity: not known.
inline double bound(const Nest& n, ExprId id) {
  const Expr& e = n.exprs[id];
  switch (e.fn) {
    case Fn::sin:
    case Fn::cos:
    case Fn::tanh:
    case Fn::erf:
    case Fn::uniform: return 1;
    case Fn::number: return std::fabs(e.number);
    case Fn::neg:
    case Fn::abs: return bound(n, e.in[0]);
    default: return std::numeric_limits<double>::infinity();
  }
}

}  // namespace thunder::fusion
