// The logarithm of the gamma function of many f32 at a time.
#pragma once

#include <cstdint>

namespace thunder {

// out[i] = lgamma(in[i]) for i < n, computed in doubles and rounded once.
void fill_lgammas(const float* in, int64_t n, float* out);

}  // namespace thunder
