// Normal numbers of f32 many at a time.
#pragma once

#include "ops/philox.h"

namespace thunder {

// to[i * step] = normal32 of element first + i, rounded, for i < n.
void fill_normals(const Philox& random, int64_t first, int64_t n, int64_t step, float* to);

}  // namespace thunder
