#include "ops/functions.h"

#include "ops/kernels.h"

namespace thunder {

Status* map_reals(const KernelArgs& k, double (*f)(double)) {
  by_real(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    each<T, T>(k, [f](C v) { return static_cast<T>(static_cast<C>(f(static_cast<double>(v)))); });
  });
  return nullptr;
}

Status* map_real_pairs(const KernelArgs& k, double (*f)(double, double)) {
  by_real(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    each2<T, T>(
        k, [f](C a, C b) { return static_cast<T>(static_cast<C>(f(static_cast<double>(a), static_cast<double>(b)))); });
  });
  return nullptr;
}

}  // namespace thunder
