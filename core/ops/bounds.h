// Where a slice begins or ends.
#pragma once

#include "ir/dim_reads.h"

namespace thunder {

// A position in a dim: negative ones count from the end, and it is clamped by the sizes seen while tracing.
inline Dim bound(Dim at, Dim size) {
  if (is_less(at, 0)) at = at + size;
  if (is_less(at, 0)) return 0;
  return is_less(size, at) ? size : at;
}

}  // namespace thunder
