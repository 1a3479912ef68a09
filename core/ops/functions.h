// Kernels of functions that the C library or core/ops/special.h has over doubles: rows name the function, and one loop
// serves all.
#pragma once

#include "ops/op.h"

namespace thunder {

// out = f(in), out = f(in, in) for reals, each computed as a double and rounded once.
Status* map_reals(const KernelArgs& k, double (*f)(double));
Status* map_real_pairs(const KernelArgs& k, double (*f)(double, double));

template <double (*f)(double)>
Status* function_kernel(const KernelArgs& k) {
  return map_reals(k, f);
}
template <double (*f)(double, double)>
Status* pair_function_kernel(const KernelArgs& k) {
  return map_real_pairs(k, f);
}

}  // namespace thunder
