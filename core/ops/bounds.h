// Where a slice begins or ends, and indices that are numbers.
#pragma once

#include "ir/dim_reads.h"
#include "ops/builder.h"

namespace thunder {

// A position in a dim: negative ones count from the end, and it is clamped by the sizes seen while tracing.
inline Dim bound(Dim at, Dim size) {
  if (is_less(at, 0)) at = at + size;
  if (is_less(at, 0)) return 0;
  return is_less(size, at) ? size : at;
}

[[noreturn]] inline void fail_out_of_range(const Call& c, Dim index, size_t dim, Dim size) {
  fail(Code::out_of_range, c.op.name(), ": index ", name(index), " is out of range for dim ", dim, " of size ",
       name(size));
}

}  // namespace thunder
