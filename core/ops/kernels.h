// Loops that reference kernels share: over strided views, by dtype. Right on every layout, fast on dense ones.
#pragma once

#include <cstring>

#include "ir/dim_reads.h"
#include "ir/elements.h"
#include "ops/op.h"
#include "ops/rows.h"
#include "tensor/tensor.h"

namespace thunder {

// The integers that no kernel is instantiated for.
template <class T>
constexpr bool kWidened = std::is_same_v<T, int8_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, uint16_t> ||
                          std::is_same_v<T, uint32_t>;

// Calls f(T{}) with the type in which kernels compute elements of `d`: its own, since narrow integers are widened
// before a kernel sees them (ops/widened.h). Requires: kernel_dtype(d) == d.
template <class F>
auto by_dtype(DType d, F&& f) {
  return by_element(d, [&](auto zero) {
    if constexpr (kWidened<decltype(zero)>) return f(float{});  // never: the kernel is not instantiated for it
    else return f(zero);
  });
}
template <class F>
auto by_real(DType d, F&& f) {
  if (d == DType::f64) return f(double{});
  if (d == DType::bf16) return f(bf16{});
  if (d == DType::f16) return f(f16{});
  return f(float{});
}

// In these loops each run computes with a copy of f, which may so keep what one element leaves for the next.

// out[i] = f(i), i counting in row-major order.
template <class Out, class F>
void each0(const KernelArgs& k, const F& f) {
  Rows<1> rows(k.out[0], {&k.out[0]});
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t first) {
    F own = f;
    Out* out = k.out[0].as<Out>() + at[0];
    for (int64_t i = 0; i < n; i++) out[i * rows.step[0]] = own(first + i);
  });
}

// out[i] = f(in[i]) with elements loaded as In, stored as Out.
template <class In, class Out, class F>
void each(const KernelArgs& k, const F& f) {
  Rows<2> rows(k.out[0], {&k.out[0], &k.in[0]});
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t) {
    F own = f;
    Out* out = k.out[0].as<Out>() + at[0];
    const In* in = k.in[0].as<In>() + at[1];
    const int64_t so = rows.step[0], si = rows.step[1];
    if (so == 1 && si == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(in[i]));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(own(in[i * si]));
  });
}

// out[i] = f(a[i], b[i]). Either operand may be one element repeated, as numbers and broadcast tensors are.
template <class In, class Out, class F>
void each2(const KernelArgs& k, const F& f) {
  Rows<3> rows(k.out[0], {&k.out[0], &k.in[0], &k.in[1]});
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t) {
    F own = f;
    Out* out = k.out[0].as<Out>() + at[0];
    const In* a = k.in[0].as<In>() + at[1];
    const In* b = k.in[1].as<In>() + at[2];
    const int64_t so = rows.step[0], sa = rows.step[1], sb = rows.step[2];
    const In a0 = a[0], b0 = b[0];
    if (so == 1 && sa == 1 && sb == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(a[i], b[i]));
    else if (so == 1 && sa == 1 && sb == 0)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(a[i], b0));
    else if (so == 1 && sa == 0 && sb == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(a0, b[i]));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(own(a[i * sa], b[i * sb]));
  });
}

// out[i] = f(a[i], b[i], c[i]), the first of another type than the others.
template <class First, class In, class Out, class F>
void each3(const KernelArgs& k, const F& f) {
  Rows<4> rows(k.out[0], {&k.out[0], &k.in[0], &k.in[1], &k.in[2]});
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t) {
    F own = f;
    Out* out = k.out[0].as<Out>() + at[0];
    const First* a = k.in[0].as<First>() + at[1];
    const In* b = k.in[1].as<In>() + at[2];
    const In* c = k.in[2].as<In>() + at[3];
    const int64_t so = rows.step[0], sa = rows.step[1], sb = rows.step[2], sc = rows.step[3];
    const In c0 = c[0];
    if (so == 1 && sa == 1 && sb == 1 && sc == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(a[i], b[i], c[i]));
    else if (so == 1 && sa == 1 && sb == 1 && sc == 0)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(own(a[i], b[i], c0));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(own(a[i * sa], b[i * sb], c[i * sc]));
  });
}

// A dense copy of the input.
inline Status* copy_dense(const KernelArgs& k) {
  copy_strided(k.in[0], k.out[0]);
  return nullptr;
}
// What a view prim shows of the input, copied.
template <ViewFn<int64_t> view>
Status* copy_view(const KernelArgs& k) {
  if (k.out[0].elements() == 0) return nullptr;
  const auto rank = static_cast<size_t>(k.in[0].rank);
  ViewOf v;
  v.strides.assign(k.in[0].strides, k.in[0].strides + rank);
  view({k.in[0].shape, rank}, k.args, {k.out[0].shape, static_cast<size_t>(k.out[0].rank)}, v);
  Buffer from = k.out[0];
  from.data = k.in[0].as<std::byte>() + v.offset * static_cast<int64_t>(size_of(from.dtype));
  from.strides = v.strides.data();
  copy_strided(from, k.out[0]);
  return nullptr;
}
// A size that an op is given, as a view's rule computes with it.
template <class Size>
Size size_as(Dim d) {
  if constexpr (std::is_same_v<Size, Dim>) return d;
  else return d.value();
}
template <class Size>
bool same_view(std::span<const Size>, std::span<const Arg>, std::span<const Size>, ViewAt<Size>&) {
  return true;
}

// The input seen through its own shape, written in order into the dense output.
inline Status* copy_in_order(const KernelArgs& k) {
  const Sizes dense = dense_strides(std::span(k.in[0].shape, static_cast<size_t>(k.in[0].rank)));
  Buffer to = k.in[0];
  to.data = k.out[0].data, to.strides = dense.data();
  copy_strided(k.in[0], to);
  return nullptr;
}

// An owned status for data that a kernel refuses (an index out of range ...).
inline Status* refuse(std::string message) { return make<Status>(Code::invalid_argument, std::move(message)).detach(); }

}  // namespace thunder
