// Loops that reference kernels share: over strided views, by dtype. Right on every layout, fast on dense ones.
#pragma once

#include <array>
#include <cstring>

#include "ir/elements.h"
#include "ops/op.h"
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

// The position in several strided views at once, advanced row by row: the innermost axis is the caller's loop. Axes of
// size 1 vanish, and axes that every view walks as one are merged, so that dense tensors are a single row.
template <size_t N>
class Rows {
 public:
  Rows(const Buffer& shape_of, const std::array<const Buffer*, N>& views) {
    for (int32_t i = shape_of.rank; i-- > 0;) {
      const int64_t size = shape_of.shape[i];
      if (size == 1) continue;
      std::array<int64_t, N> strides;
      for (size_t k = 0; k < N; k++) strides[k] = views[k]->strides[i];
      add(size, strides);
    }
    if (row_ == 0) rows_ = 0;
  }
  int64_t rows() const { return rows_; }
  int64_t row() const { return row_; }
  // Moves the offsets (in elements) to the next row.
  void next() {
    for (Axis& axis : outer_) {
      for (size_t k = 0; k < N; k++) offset[k] += axis.strides[k];
      if (++axis.at < axis.size) return;
      for (size_t k = 0; k < N; k++) offset[k] -= axis.strides[k] * axis.size;
      axis.at = 0;
    }
  }
  std::array<int64_t, N> offset{};
  std::array<int64_t, N> step{};  // strides of the innermost axis

 private:
  struct Axis {
    int64_t size, at;
    std::array<int64_t, N> strides;
  };
  // From the innermost axis outwards.
  void add(int64_t size, const std::array<int64_t, N>& strides) {
    if (empty_) {
      row_ = size, step = strides, empty_ = false;
      return;
    }
    int64_t& last = outer_.empty() ? row_ : outer_.back().size;
    const auto& under = outer_.empty() ? step : outer_.back().strides;
    bool merge = true;
    for (size_t k = 0; k < N; k++) merge &= strides[k] == under[k] * last;
    if (merge)
      last *= size;
    else
      outer_.push_back({size, 0, strides});
    if (!merge || !outer_.empty()) rows_ *= size;
  }

  bool empty_ = true;
  int64_t rows_ = 1, row_ = 1;
  SmallVector<Axis, 6> outer_;  // innermost first
};

// out[i] = f(i), i counting in row-major order.
template <class Out, class F>
void each0(const Kernel& k, F f) {
  Rows<1> rows(k.out[0], {&k.out[0]});
  int64_t first = 0;
  for (int64_t r = 0; r < rows.rows(); r++, rows.next(), first += rows.row()) {
    Out* out = k.out[0].as<Out>() + rows.offset[0];
    for (int64_t i = 0; i < rows.row(); i++) out[i * rows.step[0]] = f(first + i);
  }
}

// out[i] = f(in[i]) with elements loaded as In, stored as Out.
template <class In, class Out, class F>
void each(const Kernel& k, F f) {
  Rows<2> rows(k.out[0], {&k.out[0], &k.in[0]});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
    Out* out = k.out[0].as<Out>() + rows.offset[0];
    const In* in = k.in[0].as<In>() + rows.offset[1];
    const int64_t n = rows.row(), so = rows.step[0], si = rows.step[1];
    if (so == 1 && si == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(in[i]));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(f(in[i * si]));
  }
}

// out[i] = f(a[i], b[i]). Either operand may be one element repeated, as numbers and broadcast tensors are.
template <class In, class Out, class F>
void each2(const Kernel& k, F f) {
  Rows<3> rows(k.out[0], {&k.out[0], &k.in[0], &k.in[1]});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
    Out* out = k.out[0].as<Out>() + rows.offset[0];
    const In* a = k.in[0].as<In>() + rows.offset[1];
    const In* b = k.in[1].as<In>() + rows.offset[2];
    const int64_t n = rows.row(), so = rows.step[0], sa = rows.step[1], sb = rows.step[2];
    const In a0 = a[0], b0 = b[0];
    if (so == 1 && sa == 1 && sb == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b[i]));
    else if (so == 1 && sa == 1 && sb == 0)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b0));
    else if (so == 1 && sa == 0 && sb == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a0, b[i]));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(f(a[i * sa], b[i * sb]));
  }
}

// out[i] = f(a[i], b[i], c[i]), the first of another type than the others.
template <class First, class In, class Out, class F>
void each3(const Kernel& k, F f) {
  Rows<4> rows(k.out[0], {&k.out[0], &k.in[0], &k.in[1], &k.in[2]});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
    Out* out = k.out[0].as<Out>() + rows.offset[0];
    const First* a = k.in[0].as<First>() + rows.offset[1];
    const In* b = k.in[1].as<In>() + rows.offset[2];
    const In* c = k.in[2].as<In>() + rows.offset[3];
    const int64_t n = rows.row(), so = rows.step[0], sa = rows.step[1], sb = rows.step[2], sc = rows.step[3];
    const In c0 = c[0];
    if (so == 1 && sa == 1 && sb == 1 && sc == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b[i], c[i]));
    else if (so == 1 && sa == 1 && sb == 1 && sc == 0)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b[i], c0));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(f(a[i * sa], b[i * sb], c[i * sc]));
  }
}

// An owned status for data that a kernel refuses (an index out of range ...).
inline Status* refuse(std::string message) { return make<Status>(Code::invalid_argument, std::move(message)).detach(); }

}  // namespace thunder
