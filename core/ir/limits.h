// The numeric limits of an element type: torch.finfo and torch.iinfo.
#pragma once

#include "ir/dtype.h"

namespace thunder {

struct Limits {
  int64_t integer_min = 0;  // of integers and bool
  uint64_t integer_max = 0;
  double min = 0, max = 0;  // finite; rounded where a double does not hold them
  // Properties of real types: the step from 1 to the next number, the smallest positive normal and subnormal numbers,
  // and the power of ten up to which decimal numbers are exact.
  double eps = 0, smallest_normal = 0, smallest_subnormal = 0, resolution = 0;
};

// Requires: known(dtype).
Limits limits_of(DType dtype);

}  // namespace thunder
