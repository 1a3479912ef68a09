// Shared by the declarations of elementwise prims: meta functions, kernels from a formula, and rows.
#pragma once

#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {

// The result has the input's type.
inline void same_meta(const Call& c, Types& out) { out.push(c.type(0)); }

// The same for a function of reals.
inline void real_meta(const Call& c, Types& out) {
  require_real(c);
  out.push(c.type(0));
}

consteval OpRow real(SchemaText schema, std::string_view doc, KernelFn kernel, VjpFn vjp) {
  return primitive(schema, doc, real_meta, kernel, vjp, kElementwise);
}

// The same for a function of numbers that have a sign.
inline void number_meta(const Call& c, Types& out) {
  c.require(c.type(0).dtype != DType::boolean, "input must not be boolean, got ", name(c.type(0)),
            "; use logical_not for its complement");
  out.push(c.type(0));
}

inline void require_equal_types(const Call& c, size_t a, size_t b) {
  const TensorType &x = c.type(a), &y = c.type(b);
  c.require(x.shape == y.shape && x.dtype == y.dtype && x.device == y.device, "operands must have one type; ",
            c.types());
}

// The meta function for two operands of one type and a result of that type.
inline void pair_meta(const Call& c, Types& out) {
  require_equal_types(c, 0, 1);
  out.push(c.type(0));
}

// The meta function for two operands of one type and a boolean result.
inline void comparison_meta(const Call& c, Types& out) {
  require_equal_types(c, 0, 1);
  TensorType t = c.type(0);
  t.dtype = DType::boolean;
  out.push(t);
}

// Integers wrap around: computed on as unsigned, since overflow of signed ones is undefined.
template <class T>
constexpr bool kWraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T, class F>
T wrapping(T a, T b, F f) {
  if constexpr (kWraps<T>) {
    using U = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return static_cast<T>(f(a, b));
  }
}

// out = F(in) for reals, bf16 computed in f32.
template <class F>
Status* real_kernel(const KernelArgs& k) {
  by_real(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    each<T, T>(k, [](Compute<T> v) { return static_cast<T>(F()(v)); });
  });
  return nullptr;
}

// out = F(in) for every dtype.
template <class F>
Status* unary_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    each<T, T>(k, [](Compute<T> v) { return static_cast<T>(F()(v)); });
  });
  return nullptr;
}

// out = F(a, b) for every dtype.
template <class F>
Status* pair_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    each2<T, T>(k, [](Compute<T> a, Compute<T> b) { return static_cast<T>(F()(a, b)); });
  });
  return nullptr;
}

// out = F(a, b) as a boolean.
template <class F>
Status* comparison_kernel(const KernelArgs& k) {
  by_dtype(k.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    each2<T, bool>(k, [](Compute<T> a, Compute<T> b) { return F()(a, b); });
  });
  return nullptr;
}

}  // namespace thunder
