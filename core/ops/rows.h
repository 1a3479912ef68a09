// Strided views walked together, row by row. Compiled once, in rows.cpp: a kernel only instantiates its innermost loop.
#pragma once

#include <array>

#include "ops/parallel.h"
#include "tensor/buffer.h"

namespace thunder {

// The greatest number of index tensors of one op (ops/positions.h).
constexpr size_t kMostIndices = 32;

// The position in several strided views at once, advanced row by row: the innermost axis is the caller's loop. Axes of
// size 1 vanish, and axes that every view walks as one are merged, so that dense tensors are a single row.
// N is from 1 to 4, or kMostIndices + 1.
template <size_t N>
class Rows {
 public:
  Rows(const Buffer& shape_of, const std::array<const Buffer*, N>& views);
  int64_t rows() const { return rows_; }
  int64_t row() const { return row_; }
  // Moves the offsets (in elements) to the next row.
  void next();
  // Moves to the row of this number.
  void seek(int64_t r);
  std::array<int64_t, N> offset{};
  std::array<int64_t, N> step{};  // strides of the innermost axis

 private:
  struct Axis {
    int64_t size, at;
    std::array<int64_t, N> strides;
  };
  // From the innermost axis outwards.
  void add(int64_t size, const std::array<int64_t, N>& strides);

  bool empty_ = true;
  int64_t rows_ = 1, row_ = 1;
  SmallVector<Axis, 6> outer_;  // innermost first
};

// The function that each_run calls for a run of elements: borrowed, called through a pointer. It returns an owned
// status or null.
template <size_t N>
class RunFunction {
 public:
  template <class F>
  RunFunction(const F& f) : f_(&f), call_(call<F>) {}
  Status* operator()(const std::array<int64_t, N>& offset, int64_t n, int64_t first) const {
    return call_(f_, offset, n, first);
  }

 private:
  template <class F>
  static Status* call(const void* function, const std::array<int64_t, N>& offset, int64_t n, int64_t first) {
    const F& f = *static_cast<const F*>(function);
    if constexpr (std::is_void_v<decltype(f(offset, n, first))>) return f(offset, n, first), nullptr;
    else return f(offset, n, first);
  }
  const void* f_;
  Status* (*call_)(const void*, const std::array<int64_t, N>&, int64_t, int64_t);
};

// Calls f(offset, n, first) for runs of elements that make up all rows, on the threads of the kernel: those of a run
// lie at offset + i * step for i < n, and the first has the number `first` in row-major order. Gives the failure of the
// first part that has one. Requires: `all` is at its first row.
template <size_t N>
Status* each_run(const KernelArgs& k, Rows<N>& all, std::type_identity_t<RunFunction<N>> f);

}  // namespace thunder
