// Sums of products of rows that slide along others, as templates over an instruction set. Isa: as for Vectors.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class Sliding : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::ceil_div, Vectors<Isa>::min;
  static constexpr int64_t kRows = 8;  // whose sums are in registers
  static constexpr int64_t kTallest = Slide::kTallest;

 public:
  // ProductKernels::slide
  static void slide(const Slide& s) {
    for_each_strip(s, [&]<int64_t kWidth>(Strip<kWidth>, int64_t column, int64_t count) {
      for_each_row_block(s, [&](int64_t row, int64_t n) {
        const int64_t at = row * s.to_row + column;
        Strip<kWidth>::template slide_rows<kRows>(n, s, s.b + row * s.b_row + column, count, s.to + at);
      });
    });
  }

  // ProductKernels::slide_products
  static void slide_products(const Slide& s, float* sums) {
    for_each_strip(s, [&]<int64_t kWidth>(Strip<kWidth>, int64_t column, int64_t) {
      for_each_row_block(s, [&](int64_t row, int64_t n) {
        const int64_t at = row * s.to_row + column;
        Strip<kWidth>::template slide_product_rows<kRows>(n, s, s.b + row * s.b_row + column, s.to + at, sums);
      });
    });
  }

  // ProductKernels::sum_lanes
  static void sum_lanes(const float* sums, int64_t count, float* to) {
    for (int64_t i = 0; i < count; i++, sums += ProductKernels::kMaxLanes) {
      V all{};
      for (int64_t lane = 0; lane < ProductKernels::kMaxLanes; lane += kLanes) all += load(sums + lane);
      to[i] = Vectors<Isa>::sum(all);
    }
  }

 private:
  // Adjacent columns of the result, a vector of each row. What is loaded of a row of b is multiplied by all taps of a
  // run, each for another row of the result: else loads would take longer than the arithmetic.
  template <int64_t kWidth>
  class Strip {
    typedef float W __attribute__((vector_size(kWidth * sizeof(float))));
    typedef float U __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));

   public:
    // One instantiation for each number of rows.
    template <int64_t kRows>
    static void slide_rows(int64_t n, const Slide& s, const float* b, int64_t count, float* to) {
      if constexpr (kRows > 1)
        if (n < kRows) return slide_rows<kRows - 1>(n, s, b, count, to);
      W sum[kRows] = {};
      const float* a = s.a;
      for (int64_t i = 0; i < s.n_runs; a += s.runs[i++].height)
        add_run<kTallest>(s.runs[i].height, a, b + s.runs[i].offset, s.b_row, sum);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; i++, to += s.to_row) store_first(sum[i], count, to);
    }

    // The same, of products with rows of `g`.
    template <int64_t kRows>
    static void slide_product_rows(int64_t n, const Slide& s, const float* b, const float* g, float* sums) {
      if constexpr (kRows > 1)
        if (n < kRows) return slide_product_rows<kRows - 1>(n, s, b, g, sums);
      W rows[kRows];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; i++, g += s.to_row) rows[i] = *reinterpret_cast<const U*>(g);
      for (int64_t i = 0; i < s.n_runs; sums += ProductKernels::kMaxLanes * s.runs[i++].height)
        add_run_products<kTallest>(s.runs[i].height, rows, b + s.runs[i].offset, s.b_row, sums);
    }

   private:
    // One instantiation for each height of a run.
    template <int64_t kTall, int64_t kRows>
    [[gnu::always_inline]] static void add_run(int64_t tall, const float* a, const float* b, int64_t b_row,
                                               W (&sum)[kRows]) {
      if constexpr (kTall > 1)
        if (tall < kTall) return add_run<kTall - 1>(tall, a, b, b_row, sum);
      W taps[kTall];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kTall; i++) taps[i] = a[i] - W{};
#pragma GCC unroll 16
      for (int64_t row = 0; row < kRows + kTall - 1; row++, b += b_row) {
        const W x = *reinterpret_cast<const U*>(b);
#pragma GCC unroll 8
        for (int64_t i = 0; i < kTall; i++)
          if (row >= i && row - i < kRows) sum[row - i] += taps[i] * x;
      }
    }

    template <int64_t kTall, int64_t kRows>
    [[gnu::always_inline]] static void add_run_products(int64_t tall, const W (&rows)[kRows], const float* b,
                                                        int64_t b_row, float* sums) {
      if constexpr (kTall > 1)
        if (tall < kTall) return add_run_products<kTall - 1>(tall, rows, b, b_row, sums);
      W sum[kTall];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kTall; i++) sum[i] = *reinterpret_cast<const U*>(sums + i * ProductKernels::kMaxLanes);
#pragma GCC unroll 16
      for (int64_t row = 0; row < kRows + kTall - 1; row++, b += b_row) {
        const W x = *reinterpret_cast<const U*>(b);
#pragma GCC unroll 8
        for (int64_t i = 0; i < kTall; i++)
          if (row >= i && row - i < kRows) sum[i] += rows[row - i] * x;
      }
#pragma GCC unroll 8
      for (int64_t i = 0; i < kTall; i++) *reinterpret_cast<U*>(sums + i * ProductKernels::kMaxLanes) = sum[i];
    }

    static void store_first(W v, int64_t count, float* to) {
      if (count == kWidth) *reinterpret_cast<U*>(to) = v;
      else store_first_by_halves(v, count, to, std::make_integer_sequence<int64_t, kWidth / 2>());
    }
    // By halves; fewer than kWidth.
    template <int64_t... kLane>
    [[gnu::always_inline]] static void store_first_by_halves(W v, int64_t count, float* to,
                                                             std::integer_sequence<int64_t, kLane...>) {
      if constexpr (constexpr int64_t kHalf = kWidth / 2; kHalf == 1) {
        if (count) __builtin_memcpy(to, &v, sizeof(float));
      } else {
        using Half = Strip<kHalf>;
        const bool whole = count >= kHalf;
        if (whole) *reinterpret_cast<typename Half::U*>(to) = __builtin_shufflevector(v, v, kLane...);
        Half::store_first_by_halves(
            whole ? __builtin_shufflevector(v, v, (kLane + kHalf)...) : __builtin_shufflevector(v, v, kLane...),
            count - whole * kHalf, to + whole * kHalf, std::make_integer_sequence<int64_t, kHalf / 2>());
      }
    }
    template <int64_t>
    friend class Strip;
  };

  // Calls f(strip, column, how many columns) from left to right; narrower vectors suffice for the last few.
  template <class F>
  static void for_each_strip(const Slide& s, const F& f) {
    constexpr int64_t kHalf = kLanes > 4 ? kLanes / 2 : kLanes;
    for (int64_t column = 0; column < s.columns; column += kLanes)
      if (s.columns - column > kHalf) f(Strip<kLanes>(), column, min(kLanes, s.columns - column));
      else f(Strip<kHalf>(), column, s.columns - column);
  }
  // Calls f(row, how many) for blocks of nearly as many rows each.
  template <class F>
  static void for_each_row_block(const Slide& s, const F& f) {
    for (int64_t row = 0, left = ceil_div(s.rows, kRows); row < s.rows; left--) {
      const int64_t each = ceil_div(s.rows - row, left);
      f(row, each);
      row += each;
    }
  }
};

}  // namespace thunder
