// Loops that reference kernels share: over strided views, by dtype. Right on every layout, fast on dense ones.
#pragma once

#include <array>
#include <cstring>

#include "ir/elements.h"
#include "ops/op.h"
#include "ops/parallel.h"
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
  // To a row by its number.
  void seek(int64_t r) {
    offset.fill(0);
    for (Axis& axis : outer_) {
      axis.at = r % axis.size, r /= axis.size;
      for (size_t k = 0; k < N; k++) offset[k] += axis.at * axis.strides[k];
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

// The runs of the elements [begin, end), of which the first is the element `skipped` of the row that `rows` is at. Out
// of line, so that each kernel's loop is compiled once.
template <size_t N, class F>
[[gnu::noinline]] Status* walk_runs(Rows<N>& rows, int64_t skipped, int64_t begin, int64_t end, const F& f) {
  for (; begin < end; rows.next(), skipped = 0) {
    const int64_t length = std::min(rows.row() - skipped, end - begin);
    auto offset = rows.offset;
    for (size_t i = 0; i < N; i++) offset[i] += skipped * rows.step[i];
    if constexpr (std::is_void_v<decltype(f(offset, length, begin))>) f(offset, length, begin);
    else if (Status* failed = f(offset, length, begin)) return failed;
    begin += length;
  }
  return nullptr;
}

// Calls f(offset, n, first), which gives an owned status or nothing, for runs of elements that make up all rows, on the
// threads of the kernel: those of a run lie at offset + i * step for i < n, and the first has the number `first`
// in row-major order. Gives the failure of the first part that has one. Requires: `all` is at its first row.
template <size_t N, class F>
Status* each_run(const Kernel& k, Rows<N>& all, const F& f) {
  const int64_t n = all.rows() * all.row();
  if (is_one_part(k, n, n)) return walk_runs(all, 0, 0, n, f);
  return in_parts(k, n, n, [&](int64_t begin, int64_t end) {
    Rows<N> rows = all;
    rows.seek(begin / rows.row());
    return walk_runs(rows, begin % rows.row(), begin, end, f);
  });
}

// In these loops each run computes with a copy of f, which may so keep what one element leaves for the next.

// out[i] = f(i), i counting in row-major order.
template <class Out, class F>
void each0(const Kernel& k, const F& f) {
  Rows<1> rows(k.out[0], {&k.out[0]});
  each_run(k, rows, [&](const auto& at, int64_t n, int64_t first) {
    F own = f;
    Out* out = k.out[0].as<Out>() + at[0];
    for (int64_t i = 0; i < n; i++) out[i * rows.step[0]] = own(first + i);
  });
}

// out[i] = f(in[i]) with elements loaded as In, stored as Out.
template <class In, class Out, class F>
void each(const Kernel& k, const F& f) {
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
void each2(const Kernel& k, const F& f) {
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
void each3(const Kernel& k, const F& f) {
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

// An owned status for data that a kernel refuses (an index out of range ...).
inline Status* refuse(std::string message) { return make<Status>(Code::invalid_argument, std::move(message)).detach(); }

}  // namespace thunder
