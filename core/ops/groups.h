// Rows in groups, as an integer tensor of their ends says: a row is in the first group whose end is behind it.
#pragma once

#include <algorithm>

#include "ops/op.h"

namespace thunder {

// Calls f(group, first row, count), which may give a status, for each group, and for the rows that are in none as the
// group behind the last. Null, or the first such status. Requires: ends of i32 or i64.
template <class F>
Status* each_group(const Buffer& ends, int64_t rows, F&& f) {
  int64_t first = 0;
  for (int64_t group = 0; group <= ends.shape[0]; group++) {
    int64_t end = rows;
    if (group < ends.shape[0]) {
      const int64_t at = group * ends.strides[0];
      end = std::clamp(ends.dtype == DType::i32 ? ends.as<int32_t>()[at] : ends.as<int64_t>()[at], first, rows);
    }
    if (Status* failed = f(group, first, end - first)) return failed;
    first = end;
  }
  return nullptr;
}

}  // namespace thunder
