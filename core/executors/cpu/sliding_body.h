// Sums of products of rows that slide along others, as templates over an instruction set. Isa: as for Vectors.
#pragma once

#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class Sliding : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::ceil_div, Vectors<Isa>::min;
  static constexpr int64_t kSums = 8;  // in registers
  static constexpr int64_t kTallest = Slide::kTallest;

 public:
  // ProductKernels::slide
  static void slide(const Slide& s) {
    constexpr int64_t kHalf = kLanes > 4 ? kLanes / 2 : kLanes;
    for (int64_t column = 0; column < s.columns; column += kLanes)
      if (s.columns - column > kHalf) Strip<kLanes>::down(s, column, min(kLanes, s.columns - column));
      else Strip<kHalf>::down(s, column, s.columns - column);
  }

  // ProductKernels::slide_sums
  static void slide_sums(const float* a, int64_t count, const float* b, const int32_t* offsets, int64_t depth,
                         float* to) {
    for (int64_t left = depth, parts = ceil_div(depth, kSums); left > 0; parts--) {
      const int64_t each = ceil_div(left, parts);
      sums<kSums>(each, a, count, b, offsets, to);
      offsets += each, to += each, left -= each;
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
    static void down(const Slide& s, int64_t column, int64_t count) {
      for (int64_t row = 0, parts = ceil_div(s.rows, kSums); row < s.rows; parts--) {
        const int64_t each = ceil_div(s.rows - row, parts);
        rows<kSums>(each, s, s.b + row * s.b_row + column, count, s.to + row * s.to_row + column);
        row += each;
      }
    }

   private:
    // One instantiation for each number of rows.
    template <int64_t kRows>
    static void rows(int64_t n, const Slide& s, const float* b, int64_t count, float* to) {
      if constexpr (kRows > 1)
        if (n < kRows) return rows<kRows - 1>(n, s, b, count, to);
      W sum[kRows] = {};
      const float* a = s.a;
      for (int64_t i = 0; i < s.n_runs; a += s.runs[i++].height)
        add<kTallest>(s.runs[i].height, a, b + s.runs[i].offset, s.b_row, sum);
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; i++, to += s.to_row) store_first(sum[i], count, to);
    }

    // One instantiation for each height of a run.
    template <int64_t kTall, int64_t kRows>
    [[gnu::always_inline]] static void add(int64_t tall, const float* a, const float* b, int64_t b_row,
                                           W (&sum)[kRows]) {
      if constexpr (kTall > 1)
        if (tall < kTall) return add<kTall - 1>(tall, a, b, b_row, sum);
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

    static void store_first(W v, int64_t count, float* to) {
      if (count == kWidth) *reinterpret_cast<U*>(to) = v;
      else store_part(v, count, to, std::make_integer_sequence<int64_t, kWidth / 2>());
    }
    // By halves; fewer than kWidth.
    template <int64_t... kLane>
    [[gnu::always_inline]] static void store_part(W v, int64_t count, float* to,
                                                  std::integer_sequence<int64_t, kLane...>) {
      if constexpr (constexpr int64_t kHalf = kWidth / 2; kHalf == 1) {
        if (count) __builtin_memcpy(to, &v, sizeof(float));
      } else {
        using Half = Strip<kHalf>;
        const bool whole = count >= kHalf;
        if (whole) *reinterpret_cast<typename Half::U*>(to) = __builtin_shufflevector(v, v, kLane...);
        Half::store_part(whole ? __builtin_shufflevector(v, v, (kLane + kHalf)...)
                               : __builtin_shufflevector(v, v, kLane...),
                         count - whole * kHalf, to + whole * kHalf, std::make_integer_sequence<int64_t, kHalf / 2>());
      }
    }
    template <int64_t>
    friend class Strip;
  };

  // One instantiation for each number of offsets.
  template <int64_t kOffsets>
  static void sums(int64_t depth, const float* a, int64_t count, const float* b, const int32_t* offsets, float* to) {
    if constexpr (kOffsets > 1)
      if (depth < kOffsets) return sums<kOffsets - 1>(depth, a, count, b, offsets, to);
    V sum[kOffsets] = {};
    for (int64_t i = 0; i < count; i += kLanes) {
      const V left = load(a + i);
#pragma GCC unroll 8
      for (int64_t l = 0; l < kOffsets; l++) sum[l] += left * load(b + offsets[l] + i);
    }
#pragma GCC unroll 8
    for (int64_t l = 0; l < kOffsets; l++) to[l] += Vectors<Isa>::sum(sum[l]);
  }
};

}  // namespace thunder
