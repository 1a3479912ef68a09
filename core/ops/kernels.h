// Loops that reference kernels share: over strided views, by dtype. Right on every layout, fast on dense ones.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "ops/op.h"
#include "tensor/tensor.h"

namespace thunder {

// bf16 in memory; computed on as float and rounded to nearest even.
struct bf16 {
  uint16_t bits;
  bf16() = default;
  bf16(float f) {
    auto u = std::bit_cast<uint32_t>(f);
    bits = f != f ? static_cast<uint16_t>(u >> 16 | 0x40) : static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

// The type in which an element is computed.
template <class T>
struct ComputeOf { using type = T; };
template <>
struct ComputeOf<bf16> { using type = float; };
template <class T>
using Compute = typename ComputeOf<T>::type;

// Calls f(T{}) with the element type of `d`.
template <class F>
auto by_dtype(DType d, F&& f) {
  switch (d) {
    case DType::boolean: return f(bool{});
    case DType::u8: return f(uint8_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::bf16: return f(bf16{});
    case DType::f64: return f(double{});
    default: return f(float{});
  }
}
template <class F>
auto by_real(DType d, F&& f) {
  if (d == DType::f64) return f(double{});
  if (d == DType::bf16) return f(bf16{});
  return f(float{});
}

// The position in up to three strided views at once, advanced row by row: the innermost axis is the caller's loop.
template <size_t N>
class Rows {
 public:
  Rows(const Buffer& shape_of, const std::array<const Buffer*, N>& views) : shape_(shape_of.shape) {
    rank_ = shape_of.rank;
    for (int32_t i = 0; i + 1 < rank_; i++) rows_ *= shape_[i];
    row_ = rank_ ? shape_[rank_ - 1] : 1;
    for (size_t k = 0; k < N; k++) {
      strides_[k] = views[k]->strides;
      step[k] = rank_ ? views[k]->strides[rank_ - 1] : 0;
    }
    if (row_ == 0) rows_ = 0;
    at_.resize(static_cast<size_t>(rank_), 0);
    collapse();
  }
  int64_t rows() const { return rows_; }
  int64_t row() const { return row_; }
  // Moves the offsets (in elements) to the next row.
  void next() {
    for (int32_t axis = outer_ - 1; axis >= 0; axis--) {
      for (size_t k = 0; k < N; k++) offset[k] += strides_[k][axis];
      if (++at_[static_cast<size_t>(axis)] < shape_[axis]) return;
      for (size_t k = 0; k < N; k++) offset[k] -= strides_[k][axis] * shape_[axis];
      at_[static_cast<size_t>(axis)] = 0;
    }
  }
  std::array<int64_t, N> offset{};
  std::array<int64_t, N> step{};  // strides of the innermost axis

 private:
  // Merges trailing axes that every view walks as one, so that dense tensors are a single row.
  void collapse() {
    outer_ = rank_ - 1;
    while (outer_ > 0) {
      bool merge = true;
      for (size_t k = 0; k < N; k++) merge &= strides_[k][outer_ - 1] == step[k] * row_;
      if (!merge) break;
      row_ *= shape_[outer_ - 1];
      if (shape_[outer_ - 1]) rows_ /= shape_[outer_ - 1];
      outer_--;
    }
    if (outer_ < 0) outer_ = 0;
  }

  const int64_t* shape_;
  int32_t rank_ = 0, outer_ = 0;
  int64_t rows_ = 1, row_ = 1;
  std::array<const int64_t*, N> strides_{};
  SmallVector<int64_t, 6> at_;
};

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

// out[i] = f(a[i], b[i]).
template <class In, class Out, class F>
void each2(const Kernel& k, F f) {
  Rows<3> rows(k.out[0], {&k.out[0], &k.in[0], &k.in[1]});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
    Out* out = k.out[0].as<Out>() + rows.offset[0];
    const In* a = k.in[0].as<In>() + rows.offset[1];
    const In* b = k.in[1].as<In>() + rows.offset[2];
    const int64_t n = rows.row(), so = rows.step[0], sa = rows.step[1], sb = rows.step[2];
    if (so == 1 && sa == 1 && sb == 1)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b[i]));
    else if (so == 1 && sa == 1 && sb == 0)
      for (int64_t i = 0; i < n; i++) out[i] = static_cast<Out>(f(a[i], b[0]));
    else
      for (int64_t i = 0; i < n; i++) out[i * so] = static_cast<Out>(f(a[i * sa], b[i * sb]));
  }
}

// An owned status for data that a kernel refuses (an index out of range ...).
inline Status* refuse(std::string message) { return make<Status>(Code::invalid_argument, std::move(message)).detach(); }

}  // namespace thunder
