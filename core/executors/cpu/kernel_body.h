// Products, written once for every width of vectors. Isa: that of Vectors, and kRows, the rows of a tile: two vectors of
// sums a row, two of b and one of a fit the registers.
#pragma once

#include "executors/cpu/kernel.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class KernelBody : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::one, Vectors<Isa>::least, Vectors<Isa>::copy;
  using Vectors<Isa>::sum, Vectors<Isa>::turn;
  static constexpr int64_t kWidth = 2 * kLanes;  // columns of a tile
  static constexpr int64_t kDepth = 256;         // of a packed panel of b, which stays in the first-level cache
  static constexpr int64_t kPackedDepth = 768;   // of a panel that was packed before, which comes from the second-level cache
  static constexpr int64_t kAhead = 1024;        // columns of a dot product to which memory is asked before
  static constexpr int64_t kThinColumns = 1024;  // of c that stay in the first-level cache while rows of b pass

 public:
  static constexpr Kernels kernels(const char* instructions) {
    return {instructions, small<Product>, thin<Product>, small<HalfProduct>, thin<HalfProduct>, Vectors<Isa>::template copy<Half>, Vectors<Isa>::narrow,
            panel, Isa::kRows, kWidth, gather, pack_all, packed};
  }

 private:
  // b is of floats or halves.
  template <class P>
  static void small(const P& p) {
    float packed[kDepth * kWidth];
    for (int64_t j = 0; j < p.n; j += kWidth) {
      const int64_t columns = least(kWidth, p.n - j);
      int64_t l = 0;
      do {  // once even when there is nothing to sum: c is written
        const auto* b = p.b.data + l * p.b.row + j * p.b.column;
        Block block{least(kDepth, p.k - l), columns, packed, kWidth, p.add || l > 0};
        if (!as_it_is(p.b, b, block)) pack(p.b, b, block, packed);
        for (int64_t i = 0; i < p.m; i += Isa::kRows) {
          const Matrix a{p.a.data + i * p.a.row + l * p.a.column, p.a.row, p.a.column};
          tiles<Isa::kRows>(least(Isa::kRows, p.m - i), a, block, p.c + i * p.c_row + j, p.c_row);
        }
        l += kDepth;
      } while (l < p.k);
    }
  }

  template <class P>
  static void thin(const P& p) {
    if (p.b.row == 1) dot_products(p);
    else row_sums(p);
  }

  static void panel(int64_t rows, int64_t depth, const float* a, const float* b, const int32_t* offsets, float* c, bool add) {
    panel_of<Isa::kRows>(rows, depth, a, b, offsets, c, add);
  }

  static void gather(const Run* runs, int64_t n, const int32_t* offsets, int64_t depth, float* panel) {
    for (int64_t l = 0; l < depth; l++, panel += kWidth)
      for (int64_t r = 0; r < n; r++) {
        const float* from = runs[r].from + offsets[l];
        store(panel + runs[r].at, load(from));
        if (runs[r].count > kLanes) store(panel + runs[r].at + kLanes, load(from + kLanes));
      }
  }

  static void pack_all(const Matrix& b, int64_t k, int64_t n, float* panels) {
    for (int64_t j = 0; j < n; j += kWidth, panels += k * kWidth) pack(b, b.data + j * b.column, Block{k, least(kWidth, n - j), nullptr, kWidth, false}, panels);
  }

  static void packed(const Product& p) {
    int64_t l = 0;
    do {
      for (int64_t j = 0; j < p.n; j += kWidth) {
        const Block block{least(kPackedDepth, p.k - l), least(kWidth, p.n - j), p.b.data + j * p.b.column + l * p.b.row, p.b.row, p.add || l > 0};
        for (int64_t i = 0; i < p.m; i += Isa::kRows) {
          const Matrix a{p.a.data + i * p.a.row + l * p.a.column, p.a.row, p.a.column};
          tiles<Isa::kRows>(least(Isa::kRows, p.m - i), a, block, p.c + i * p.c_row + j, p.c_row);
        }
      }
      l += kPackedDepth;
    } while (l < p.k);
  }

  // One function for each number of rows.
  template <int64_t kRows>
  static void panel_of(int64_t rows, int64_t depth, const float* a, const float* b, const int32_t* offsets, float* c, bool add) {
    if constexpr (kRows > 1)
      if (rows < kRows) return panel_of<kRows - 1>(rows, depth, a, b, offsets, c, add);
    V left[kRows], right[kRows];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++) {
      left[i] = add ? load(c + i * kWidth) : V{};
      right[i] = add ? load(c + i * kWidth + kLanes) : V{};
    }
    for (int64_t l = 0; l < depth; l++, a += kRows) {
      const V b_left = load(b + offsets[l]), b_right = load(b + offsets[l] + kLanes);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kRows; i++) {
        left[i] += a[i] * b_left;
        right[i] += a[i] * b_right;
      }
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++) store(c + i * kWidth, left[i]), store(c + i * kWidth + kLanes, right[i]);
  }

  // A panel of b: `depth` rows of kWidth columns, `columns` of which count.
  struct Block {
    int64_t depth, columns;
    const float* data;
    int64_t row;
    bool add;
  };

  // Whether floats need not be packed.
  static bool as_it_is(const Matrix& b, const float* from, Block& block) {
    if (b.column != 1 || block.columns < kWidth) return false;
    block.data = from;
    block.row = b.row;
    return true;
  }
  static bool as_it_is(const MatrixOf<Half>&, const Half*, Block&) { return false; }

  // The columns that do not count are zero.
  template <class T>
  static void pack(const MatrixOf<T>& b, const T* from, const Block& block, float* packed) {
    if (b.row == 1 && b.column != 1) return turn(from, b.column, block.columns, kWidth, block.depth, packed, kWidth);
    for (int64_t l = 0; l < block.depth; l++, from += b.row, packed += kWidth) {
      if (block.columns < kWidth) store(packed, V{}), store(packed + kLanes, V{});
      if (b.column == 1) copy(from, block.columns, packed);
      else
        for (int64_t j = 0; j < block.columns; j++) packed[j] = one(from + j * b.column);
    }
  }
  // The tile of as many rows as there are: one function for each number of them.
  template <int64_t kRows>
  static void tiles(int64_t rows, const Matrix& a, const Block& block, float* c, int64_t c_row) {
    if constexpr (kRows > 1)
      if (rows < kRows) return tiles<kRows - 1>(rows, a, block, c, c_row);
    if (block.columns == kWidth) return tile<kRows>(a, block, c, c_row);
    float whole[kRows * kWidth];
    for (int64_t i = 0; i < kRows && block.add; i++) {
      store(whole + i * kWidth, V{}), store(whole + i * kWidth + kLanes, V{});
      copy(c + i * c_row, block.columns, whole + i * kWidth);
    }
    tile<kRows>(a, block, whole, kWidth);
    for (int64_t i = 0; i < kRows; i++) copy(whole + i * kWidth, block.columns, c + i * c_row);
  }

  // The compiler may not prepare this address ahead of time: a tile needs so many that they would lie in memory.
  template <class T>
  static void keep(T*& address) {
    asm("" : "+r"(address));
  }

  template <int64_t kRows>
  static void tile(const Matrix& a, const Block& block, float* c, int64_t c_row) {
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
#pragma GCC unroll 2
    for (int64_t l = 0; l < block.depth; l++, b += block.row) {
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
    row = c;
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++, row += c_row, keep(row)) {
      store(row, left[i]);
      store(row + kLanes, right[i]);
    }
  }

  // Columns of b are dense. One of each half of them at a time, against every row of a: memory is read in two long streams,
  // which the processor fetches ahead. Neighbouring columns are streams that end with their page: of a weight of
  // 768 columns in memory, eight at a time reached half of this. Asked for a page ahead, a quarter more arrives.
  template <class P>
  static void dot_products(const P& p) {
    const int64_t half = p.n / 2;
    for (int64_t j = 0; j < half; j++) dots<2>(p, j, half);
    if (p.n % 2) dots<1>(p, p.n - 1, 0);
  }

  // Of kColumns columns, so many apart.
  template <int64_t kColumns, class P>
  static void dots(const P& p, int64_t j, int64_t apart) {
    const auto* b = p.b.data + j * p.b.column;
    const int64_t distance = apart * p.b.column;
    for (int64_t i = 0; i < p.m; i++) {
      const float* a = p.a.data + i * p.a.row;
      V sums[kColumns][2] = {};
      int64_t l = 0;
      for (; l + kWidth <= p.k; l += kWidth)
#pragma GCC unroll 2
        for (int64_t x = 0; x < kColumns; x++) {
          const auto* ahead = b + x * distance + l + kAhead;
          __builtin_prefetch(ahead), __builtin_prefetch(ahead + kLanes);
          sums[x][0] += load(a + l) * load(b + x * distance + l);
          sums[x][1] += load(a + l + kLanes) * load(b + x * distance + l + kLanes);
        }
      float* c = p.c + i * p.c_row + j;
      for (int64_t x = 0; x < kColumns; x++) {
        float total = sum(sums[x][0] + sums[x][1]);
        for (int64_t rest = l; rest < p.k; rest++) total += a[rest] * one(b + x * distance + rest);
        c[x * apart] = p.add ? c[x * apart] + total : total;
      }
    }
  }

  // Rows of b are dense: four at a time are added to a row of c.
  template <class P>
  static void row_sums(const P& p) {
    for (int64_t j = 0; j < p.n; j += kThinColumns) {
      const int64_t columns = least(kThinColumns, p.n - j);
      if (!p.add)
        for (int64_t i = 0; i < p.m; i++)
          for (int64_t x = 0; x < columns; x++) p.c[i * p.c_row + j + x] = 0;
      int64_t l = 0;
      for (; l + 4 <= p.k; l += 4) add_rows<4>(p, l, j, columns);
      for (; l < p.k; l++) add_rows<1>(p, l, j, columns);
    }
  }

  template <int64_t kInner, class P>
  static void add_rows(const P& p, int64_t l, int64_t j, int64_t columns) {
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
        for (int64_t r = 0; r < kInner; r++) c[x] += a[r] * one(b + r * p.b.row + x);
    }
  }
};

}  // namespace thunder
