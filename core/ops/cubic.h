// The cubic convolution of four neighbours (Keys, 1981).
#pragma once

#include <array>

#include "ops/tables.h"

namespace thunder {

// The weights of the neighbours at -1, 0, 1 and 2 of a place that is t in [0, 1) behind that at 0.
inline std::array<Var, 4> cubic_weights(Var t) {
  constexpr double a = -0.75;
  const auto inner = [](Var d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  const auto outer = [](Var d) { return ((d - 5.0) * d + 8.0) * d * a - 4 * a; };
  return {outer(t + 1.0), inner(t), inner(1.0 - t), outer(2.0 - t)};
}

}  // namespace thunder
