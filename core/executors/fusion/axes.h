// Sets of loop axes, as sorted vectors.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "executors/fusion/space.h"

namespace thunder::fusion {

using Axes = std::vector<AxisId>;  // sorted

inline Axes set_of(const Dimension& d) {
  Axes out(d.begin(), d.end());
  std::sort(out.begin(), out.end());
  return out;
}
inline Axes without(const Axes& a, const Axes& b) {
  Axes out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace thunder::fusion
