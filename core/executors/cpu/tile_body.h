// The microkernel of products: a few rows of a against a panel of b. Isa: as for Vectors, and kRows, the rows of a
// tile: two vectors of sums for each row, two of b and one of a fit the registers.
#pragma once

#include "executors/cpu/product_kernels.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
struct Tiles : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::load_one,
      Vectors<Isa>::copy, Vectors<Isa>::copy_transposed;
  static constexpr int64_t kWidth = 2 * kLanes;  // columns of a tile

  // Rows of a that the next tiles need, prefetched while a tile is computed, one cache line of each at a time: all at
  // once they would delay the tile's own loads. They may reach past the end, where prefetches do nothing.
  struct Prefetch {
    const float* data = nullptr;
    int64_t rows = 0;
  };

  // A panel of b: `depth` rows of kWidth columns, the first `columns` of which are valid.
  struct Block {
    int64_t depth, columns;
    const float* data;
    int64_t row;
    bool add;
    Prefetch prefetch = {};
  };

  // Whether b can be read in place, without packing.
  static bool can_read_in_place(const Matrix& b, const float* from, Block& block) {
    if (b.column != 1 || block.columns < kWidth) return false;
    block.data = from;
    block.row = b.row;
    return true;
  }
  static bool can_read_in_place(const MatrixOf<Bf16>&, const Bf16*, Block&) { return false; }

  // Columns past the valid ones are zero.
  template <class T>
  static void pack(const MatrixOf<T>& b, const T* from, const Block& block, float* packed) {
    if (b.row == 1 && b.column != 1)
      return copy_transposed(from, b.column, block.columns, kWidth, block.depth, packed, kWidth);
    for (int64_t l = 0; l < block.depth; l++, from += b.row, packed += kWidth) {
      if (block.columns < kWidth) store(packed, V{}), store(packed + kLanes, V{});
      if (b.column == 1) copy(from, block.columns, packed);
      else
        for (int64_t j = 0; j < block.columns; j++) packed[j] = load_one(from + j * b.column);
    }
  }

  // How many rows of a to take at a time. Rows that are a multiple of kConflictStride apart map to the same set of an
  // L1 cache: with more of them than it has ways, they would evict each other's lines (conflict misses).
  static int64_t rows_at_once(const Matrix& a) {
    constexpr int64_t kConflictStride = 4096 / sizeof(float), kWays = 8;
    return a.column == 1 && a.row % kConflictStride == 0 ? Tiles::min(Isa::kRows, kWays) : Isa::kRows;
  }

  // At most kRows rows.
  static void compute_tile(int64_t rows, const Matrix& a, const Block& block, float* c, int64_t c_row) {
    compute_tile_rows<Isa::kRows>(rows, a, block, c, c_row);
  }

 private:
  // One instantiation for each number of rows.
  template <int64_t kRows>
  static void compute_tile_rows(int64_t rows, const Matrix& a, const Block& block, float* c, int64_t c_row) {
    if constexpr (kRows > 1)
      if (rows < kRows) return compute_tile_rows<kRows - 1>(rows, a, block, c, c_row);
    if (block.columns == kWidth) return compute_full_tile<kRows>(a, block, c, c_row);
    float wide[kRows * kWidth];
    for (int64_t i = 0; i < kRows && block.add; i++) {
      store(wide + i * kWidth, V{}), store(wide + i * kWidth + kLanes, V{});
      copy(c + i * c_row, block.columns, wide + i * kWidth);
    }
    compute_full_tile<kRows>(a, block, wide, kWidth);
    for (int64_t i = 0; i < kRows; i++) copy(wide + i * kWidth, block.columns, c + i * c_row);
  }

  // Keeps the compiler from computing all addresses of a tile in advance, which are so many that they would spill.
  template <class T>
  static void hide_from_optimizer(T*& address) {
    asm("" : "+r"(address));
  }

  static constexpr int kSecondLevel = 2;  // the locality argument of __builtin_prefetch for the L2 cache

  template <int64_t kRows>
  static void compute_full_tile(const Matrix& a, const Block& block, float* c, int64_t c_row) {
    V left[kRows], right[kRows];
    float* row = c;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++, row += c_row, hide_from_optimizer(row)) {
      left[i] = block.add ? load(row) : V{};
      right[i] = block.add ? load(row + kLanes) : V{};
    }
    // Four rows of a share a base address and four offsets.
    constexpr int64_t kGroups = (kRows + 3) / 4;
    const int64_t distances[] = {0, a.row, 2 * a.row, 3 * a.row};
    const float *groups[kGroups], *b = block.data;
    for (int64_t g = 0; g < kGroups; g++) groups[g] = a.data + 4 * g * a.row;
    for (int64_t l = 0; l < block.depth;) {
      const int64_t end = Tiles::min(l + kLineFloats, block.depth);
      for (int64_t i = 0; i < block.prefetch.rows; i++)
        __builtin_prefetch(block.prefetch.data + i * a.row + l, 0, kSecondLevel);
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
        for (int64_t g = 0; g < kGroups; g++) groups[g] += a.column, hide_from_optimizer(groups[g]);
      }
    }
    row = c;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++, row += c_row, hide_from_optimizer(row)) {
      store(row, left[i]);
      store(row + kLanes, right[i]);
    }
  }
};

}  // namespace thunder
