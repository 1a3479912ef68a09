// Matrix product kernels, for the calling thread. Any thread.
//
// This header is also compiled with instructions that not every machine has, so it includes nothing with code.
#pragma once

#include <cstdint>

#include "base/machine.h"

namespace thunder {

// Strides in elements, from one row or column to the next.
template <class T>
struct MatrixOf {
  const T* data = nullptr;
  int64_t row = 0, column = 0;
};

// c[m, n] = a[m, k] b[k, n], added to c if `add`. Rows of c are dense and `c_row` apart.
template <class T>
struct ProductOf {
  int64_t m = 0, n = 0, k = 0;
  MatrixOf<T> a, b;
  T* c = nullptr;
  int64_t c_row = 0;
  bool add = false;
};

using Matrix = MatrixOf<float>;
using Product = ProductOf<float>;

constexpr int64_t kLineFloats = kCacheLine / sizeof(float);

using Bf16 = uint16_t;  // the bits of a bf16

// The same with b in bf16, whose elements are widened to f32 before they are multiplied.
struct Bf16Product {
  int64_t m = 0, n = 0, k = 0;
  Matrix a;
  MatrixOf<Bf16> b;
  float* c = nullptr;
  int64_t c_row = 0;
  bool add = false;
};

// `count` consecutive floats at `from`, which are copied to column `at` of a panel.
struct Run {
  const float* from;
  int64_t at, count;
};

// to[row * to_row + column] = sum over taps of a[tap] b[offset of the tap + row * b_row + column], the taps in order.
// Of b whole vectors are read: up to kMaxLanes - 1 floats past a row.
struct Slide {
  static constexpr int64_t kTallest = 5;
  // So many taps, of which each is a row of b below the one before; at most kTallest.
  struct Run {
    int32_t offset, height;
  };
  const float* a = nullptr;
  const Run* runs = nullptr;
  int64_t n_runs = 0;
  const float* b = nullptr;
  int64_t b_row = 0;
  int64_t rows = 0, columns = 0;
  float* to = nullptr;
  int64_t to_row = 0;
};

// Each element of c is summed in an order that depends on k alone, so c may be divided anywhere.
struct ProductKernels {
  // Any strides.
  void (*small)(const Product&);
  // For few rows: reads b once. Requires: a.column == 1, and b.row == 1 or b.column == 1.
  void (*thin)(const Product&);
  void (*small_bf16)(const Bf16Product&);
  void (*thin_bf16)(const Bf16Product&);
  // n elements of bf16 to f32, and back, rounded to nearest even.
  void (*widen)(const Bf16* from, int64_t n, float* to);
  void (*narrow)(const float* from, int64_t n, Bf16* to);
  // The same with the bits of f16.
  void (*widen_f16)(const uint16_t* from, int64_t n, float* to);
  void (*narrow_f16)(const float* from, int64_t n, uint16_t* to);
  // c[rows, panel_columns] = sum over l < depth of a[l, rows] b[offsets[l] + column], added to c if `add`. All operands
  // are dense; rows <= panel_rows.
  void (*panel)(int64_t rows, int64_t depth, const float* a, const float* b, const int32_t* offsets, float* c,
                bool add);
  int64_t panel_rows, panel_columns;
  // The gather of an implicit im2col: panel[l * panel_columns + run.at + i] = run.from[offsets[l] + i] for l < depth
  // and i < run.count. Each run begins where the one before ends, since whole vectors are read and written: up to
  // kMaxLanes floats past a run, which the next run overwrites.
  void (*gather)(const Run* runs, int64_t n, const int32_t* offsets, int64_t depth, float* panel);
  // Packs the columns of b[k, n] into panels of panel_columns, one after the other; the rows of a panel are dense, and
  // the last panel is padded with zeros.
  void (*pack)(const Matrix& b, int64_t k, int64_t n, float* panels);
  // A product whose b.data are panels of `pack`, with b.row == panel_columns and b.column == k; it may be divided at
  // panels.
  void (*packed)(const Product&);
  // A product whose b has dense columns (b.row == 1), computed transposed. a.data are panels of `pack` of a's rows as
  // columns [k, m]; a's strides are not read. Rows of c start from the n elements of `bias` unless it is null, or from
  // c if `add`.
  void (*transposed_result)(const Product&, const float* bias);
  void (*slide)(const Slide&);
  // Of what slide reads, and of `to`, which is read too: sums[tap * kMaxLanes + lane] += a part of the sum over rows
  // and columns of to[row * to_row + column] b[offset of the tap + row * b_row + column]. Behind the last column `to`
  // is zero to the end of a vector, and b finite. sum_lanes adds the parts up.
  void (*slide_products)(const Slide&, float* sums);
  void (*sum_lanes)(const float* sums, int64_t count, float* to);

  static constexpr int64_t kMaxColumns = 32, kMaxPanel = 12 * kMaxColumns, kMaxLanes = 16;
};

}  // namespace thunder
