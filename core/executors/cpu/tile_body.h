// Tiles of products: a few rows of a against a panel of b. Isa: that of Vectors, and kRows, the rows of a tile: two vectors of
// sums a row, two of b and one of a fit the registers.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
struct Tiles : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::one, Vectors<Isa>::copy, Vectors<Isa>::copy_transposed;
  static constexpr int64_t kWidth = 2 * kLanes;  // columns of a tile

  // Rows of what the next tiles take for a. They are fetched while a tile is computed, a line of each at a time: all at once they
  // would keep waiting what the tile reads. They may reach past the end: what is not there is not fetched.
  struct Ahead {
    const float* data = nullptr;
    int64_t rows = 0;
  };

  // A panel of b: `depth` rows of kWidth columns, `columns` of which count.
  struct Block {
    int64_t depth, columns;
    const float* data;
    int64_t row;
    bool add;
    Ahead ahead = {};
  };

  // Whether floats need not be packed.
  static bool as_it_is(const Matrix& b, const float* from, Block& block) {
    if (b.column != 1 || block.columns < kWidth) return false;
    block.data = from;
    block.row = b.row;
    return true;
  }
  static bool as_it_is(const MatrixOf<Bf16>&, const Bf16*, Block&) { return false; }

  // The columns that do not count are zero.
  template <class T>
  static void pack(const MatrixOf<T>& b, const T* from, const Block& block, float* packed) {
    if (b.row == 1 && b.column != 1) return copy_transposed(from, b.column, block.columns, kWidth, block.depth, packed, kWidth);
    for (int64_t l = 0; l < block.depth; l++, from += b.row, packed += kWidth) {
      if (block.columns < kWidth) store(packed, V{}), store(packed + kLanes, V{});
      if (b.column == 1) copy(from, block.columns, packed);
      else
        for (int64_t j = 0; j < block.columns; j++) packed[j] = one(from + j * b.column);
    }
  }

  // Rows of a that are best taken at a time. So far apart they lie in the same places of a first-level cache: if these were more than
  // it surely has, each line would push out another row's before all of it was read.
  static int64_t rows_at_once(const Matrix& a) {
    constexpr int64_t kMeet = 4096 / sizeof(float), kWays = 8;
    return a.column == 1 && a.row % kMeet == 0 ? Tiles::least(Isa::kRows, kWays) : Isa::kRows;
  }

  // At most kRows rows.
  static void tile(int64_t rows, const Matrix& a, const Block& block, float* c, int64_t c_row) { tile_of<Isa::kRows>(rows, a, block, c, c_row); }

 private:
  // One function for each number of rows.
  template <int64_t kRows>
  static void tile_of(int64_t rows, const Matrix& a, const Block& block, float* c, int64_t c_row) {
    if constexpr (kRows > 1)
      if (rows < kRows) return tile_of<kRows - 1>(rows, a, block, c, c_row);
    if (block.columns == kWidth) return whole<kRows>(a, block, c, c_row);
    float wide[kRows * kWidth];
    for (int64_t i = 0; i < kRows && block.add; i++) {
      store(wide + i * kWidth, V{}), store(wide + i * kWidth + kLanes, V{});
      copy(c + i * c_row, block.columns, wide + i * kWidth);
    }
    whole<kRows>(a, block, wide, kWidth);
    for (int64_t i = 0; i < kRows; i++) copy(wide + i * kWidth, block.columns, c + i * c_row);
  }

  // The compiler may not prepare this address ahead of time: a tile needs so many that they would lie in memory.
  template <class T>
  static void keep(T*& address) {
    asm("" : "+r"(address));
  }

  static constexpr int kSecondLevel = 2;  // of caches: __builtin_prefetch's locality

  template <int64_t kRows>
  static void whole(const Matrix& a, const Block& block, float* c, int64_t c_row) {
    V left[kRows], right[kRows];
    float* row = c;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++, row += c_row, keep(row)) {
      left[i] = block.add ? load(row) : V{};
      right[i] = block.add ? load(row + kLanes) : V{};
    }
    // Four rows of a share an address and the distances from it.
    constexpr int64_t kGroups = (kRows + 3) / 4;
    const int64_t distances[] = {0, a.row, 2 * a.row, 3 * a.row};
    const float *groups[kGroups], *b = block.data;
    for (int64_t g = 0; g < kGroups; g++) groups[g] = a.data + 4 * g * a.row;
    for (int64_t l = 0; l < block.depth;) {
      const int64_t end = Tiles::least(l + kLineFloats, block.depth);
      for (int64_t i = 0; i < block.ahead.rows; i++) __builtin_prefetch(block.ahead.data + i * a.row + l, 0, kSecondLevel);
#pragma GCC unroll 2
      for (; l < end; l++, b += block.row) {
        const V b_left = load(b), b_right = load(b + kLanes);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kRows; i++) {
          const float x = groups[i / 4][distances[i % 4]];
          left[i] += x * b_left;
          right[i] += x * b_right;
        }
#pragma GCC unroll 4
        for (int64_t g = 0; g < kGroups; g++) groups[g] += a.column, keep(groups[g]);
      }
    }
    row = c;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++, row += c_row, keep(row)) {
      store(row, left[i]);
      store(row + kLanes, right[i]);
    }
  }
};

}  // namespace thunder
