// The tiles of a product, which are divided among threads.
#pragma once

#include <cstdint>

namespace thunder {

// ceil(n / each).
constexpr int64_t ceil_div(int64_t n, int64_t each) { return (n + each - 1) / each; }
// n, rounded up to a multiple of `whole`.
constexpr int64_t round_up(int64_t n, int64_t whole) { return ceil_div(n, whole) * whole; }

constexpr int64_t kColumnsStep = 64;  // whole vectors of any width, and cache lines of the result

// The size of a tile: the part of a product's result that a thread computes at a time.
struct Tiling {
  int64_t rows, columns;
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

// Depends on the sizes alone, so that results are the same bits on any number of threads. `work`: the multiply-adds of
// a tile, unless that leaves too few rows and columns to amortize packing. Requires: m and n are not 0.
Tiling tiling(int64_t m, int64_t n, int64_t k, int64_t work);

// The tiling of a product of at most kThinRows rows: each thread takes all rows, so that b is read once.
constexpr int64_t kThinRows = 4;
Tiling thin_tiling(int64_t m, int64_t k);

}  // namespace thunder
