// Products of a few rows, which read b once. Isa: as for Vectors.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class Thin : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::load_one,
      Vectors<Isa>::min, Vectors<Isa>::sum;
  static constexpr int64_t kWidth = 2 * kLanes;
  static constexpr int64_t kPrefetchDistance = 1024;  // of a dot product, in elements of a column
  static constexpr int64_t kThinColumns = 1024;  // of c: they stay in the L1 cache while rows of b pass

 public:
  // b is of f32 or bf16.
  template <class P>
  static void multiply(const P& p) {
    if (p.b.row == 1) dot_products(p);
    else add_scaled_rows(p);
  }

 private:
  // Columns of b are dense. Two columns are multiplied at a time, one of each half of b, against every row of a, so
  // that memory is read in two long streams, which the hardware prefetcher follows. Streams of neighbouring columns
  // would end at each page: with a weight of 768 columns, eight at a time reached half of this bandwidth. Prefetching a
  // page ahead adds a quarter.
  template <class P>
  static void dot_products(const P& p) {
    const int64_t half = p.n / 2;
    for (int64_t j = 0; j < half; j++) multiply_columns<2>(p, j, half);
    if (p.n % 2) multiply_columns<1>(p, p.n - 1, 0);
  }

  // kColumns columns that are `apart` columns from each other.
  template <int64_t kColumns, class P>
  static void multiply_columns(const P& p, int64_t j, int64_t apart) {
    const auto* b = p.b.data + j * p.b.column;
    const int64_t distance = apart * p.b.column;
    for (int64_t i = 0; i < p.m; i++) {
      const float* a = p.a.data + i * p.a.row;
      V sums[kColumns][2] = {};
      int64_t l = 0;
      for (; l + kWidth <= p.k; l += kWidth)
#pragma GCC unroll 2
        for (int64_t x = 0; x < kColumns; x++) {
          const auto* prefetch = b + x * distance + l + kPrefetchDistance;
          __builtin_prefetch(prefetch), __builtin_prefetch(prefetch + kLanes);
          sums[x][0] += load(a + l) * load(b + x * distance + l);
          sums[x][1] += load(a + l + kLanes) * load(b + x * distance + l + kLanes);
        }
      float* c = p.c + i * p.c_row + j;
      for (int64_t x = 0; x < kColumns; x++) {
        float total = sum(sums[x][0] + sums[x][1]);
        for (int64_t rest = l; rest < p.k; rest++) total += a[rest] * load_one(b + x * distance + rest);
        c[x * apart] = p.add ? c[x * apart] + total : total;
      }
    }
  }

  // Rows of b are dense: four at a time are added to a row of c.
  template <class P>
  static void add_scaled_rows(const P& p) {
    for (int64_t j = 0; j < p.n; j += kThinColumns) {
      const int64_t columns = min(kThinColumns, p.n - j);
      if (!p.add)
        for (int64_t i = 0; i < p.m; i++)
          for (int64_t x = 0; x < columns; x++) p.c[i * p.c_row + j + x] = 0;
      int64_t l = 0;
      for (; l + 4 <= p.k; l += 4) add_scaled_row_group<4>(p, l, j, columns);
      for (; l < p.k; l++) add_scaled_row_group<1>(p, l, j, columns);
    }
  }

  template <int64_t kInner, class P>
  static void add_scaled_row_group(const P& p, int64_t l, int64_t j, int64_t columns) {
    const auto* b = p.b.data + l * p.b.row + j;
    for (int64_t i = 0; i < p.m; i++) {
      const float* a = p.a.data + i * p.a.row + l;
      float* c = p.c + i * p.c_row + j;
      int64_t x = 0;
      for (; x + kLanes <= columns; x += kLanes) {
        V total = load(c + x);
#pragma GCC unroll 4
        for (int64_t r = 0; r < kInner; r++) total += a[r] * load(b + r * p.b.row + x);
        store(c + x, total);
      }
      for (; x < columns; x++)
        for (int64_t r = 0; r < kInner; r++) c[x] += a[r] * load_one(b + r * p.b.row + x);
    }
  }
};

}  // namespace thunder
