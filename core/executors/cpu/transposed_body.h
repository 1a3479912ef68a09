// Products with a weight whose columns are dense, as in `linear`: the result is computed transposed, with the weight
// read in place, and transposed back. For a few hundred rows that is faster than transposing the weight. Isa: as for
// Tiles.
#pragma once

#include "executors/cpu/tile_body.h"

namespace thunder {

template <class Isa>
class Transposed : Tiles<Isa> {
  using typename Tiles<Isa>::V, typename Tiles<Isa>::Block;
  using Tiles<Isa>::kLanes, Tiles<Isa>::kWidth, Tiles<Isa>::load, Tiles<Isa>::store, Tiles<Isa>::min,
      Tiles<Isa>::ceil_div, Tiles<Isa>::compute_tile, Tiles<Isa>::copy_transposed, Tiles<Isa>::rows_at_once;
  // The block of c that is computed before it is transposed back: four panels of rows, and columns that are whole tiles
  // and vectors for every Isa.
  static constexpr int64_t kRows = 4 * kWidth, kColumns = 96;
  static constexpr int64_t kDepth = 1024;  // of a's panels, which are streamed from the L2 cache

 public:
  static void multiply(const Product& p, const float* bias) {
    int64_t l = 0;
    do {  // once even when k is 0: c is written
      for (int64_t j = 0; j < p.n; j += kColumns)
        for (int64_t i = 0; i < p.m; i += kRows) compute_block(p, i, j, l, bias ? bias + j : nullptr);
      l += kDepth;
    } while (l < p.k);
  }

 private:
  static void compute_block(const Product& p, int64_t i, int64_t j, int64_t l, const float* bias) {
    const int64_t rows = min(kRows, p.m - i), columns = min(kColumns, p.n - j), depth = min(kDepth, p.k - l);
    alignas(64) float sums[kColumns * kRows];
    const int64_t some = rows_at_once({nullptr, p.b.column, 1}), panels = ceil_div(rows, kWidth);
    // What each tile prefetches: the weight's next rows, and the rows of c that are written once all tiles are
    // computed.
    const int64_t each = ceil_div(some, panels), share = ceil_div(rows, panels * ceil_div(columns, some));
    int64_t fetched = 0;
    for (int64_t x = 0; x < columns; x += some) {
      const Matrix weight{p.b.data + (j + x) * p.b.column + l, p.b.column, 1};
      const float* next = weight.data + some * weight.row;
      for (int64_t y = 0; y < rows; y += kWidth, next += each * weight.row, fetched += share) {
        prefetch_rows(min(share, rows - fetched), columns, p.c + (i + fetched) * p.c_row + j, p.c_row);
        const Block panel{depth, kWidth, p.a.data + (i + y) * p.k + l * kWidth, kWidth, false, {next, each}};
        compute_tile(min(some, columns - x), weight, panel, sums + x * kRows + y, kRows);
      }
    }
    write_rows(sums, rows, columns, p.c + i * p.c_row + j, p.c_row, p.add || l > 0, bias);
  }

  // Writes c row by row: rows that are a multiple of a page apart would evict each other if several were written at a
  // time.
  static void write_rows(const float* sums, int64_t rows, int64_t columns, float* c, int64_t c_row, bool add,
                  const float* bias) {
    alignas(64) float some[kLanes * kColumns];
    for (int64_t i = 0; i < rows; i += kLanes, c += kLanes * c_row) {
      copy_transposed(sums + i, kRows, columns, columns, kLanes, some, kColumns);
      for (int64_t r = 0; r < min(kLanes, rows - i); r++) {
        float* row = c + r * c_row;
        write_row(some + r * kColumns, columns, add ? row : bias, row);
      }
    }
  }

  // c = from + addend, which is zero if it is null.
  static void write_row(const float* from, int64_t n, const float* addend, float* c) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(c + i, addend ? load(addend + i) + load(from + i) : load(from + i));
    for (; i < n; i++) c[i] = addend ? addend[i] + from[i] : from[i];
  }

  // Prefetches rows of c for writing.
  static void prefetch_rows(int64_t rows, int64_t columns, const float* c, int64_t c_row) {
    for (int64_t r = 0; r < rows; r++)
      for (int64_t x = 0; x < columns; x += kLineFloats) __builtin_prefetch(c + r * c_row + x, 1);
  }
};

}  // namespace thunder
