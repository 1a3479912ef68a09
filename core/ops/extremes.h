// The lowest and highest numbers of element types, as neutral elements of maximum and minimum.
#pragma once

#include <limits>

#include "ir/dtype.h"

namespace thunder {

// No number of the type is greater, or less: infinities of real types. Both survive a conversion from a double.
inline double greatest_of(DType d) { return is_real(d) ? std::numeric_limits<double>::infinity() : info(d).largest; }
inline double least_of(DType d) {
  if (!is_signed(d)) return 0;
  // The doubles of 64-bit integers are rounded away from zero already.
  return is_real(d) || size_of(d) == 8 ? -greatest_of(d) : -greatest_of(d) - 1;
}

}  // namespace thunder
