// Batched matrix products, divided into tiles for the threads of a launch. An executor chooses the tile sizes and the
// kernel.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "executors/cpu/parallel.h"
#include "executors/cpu/product_kernels.h"
#include "executors/cpu/tiling.h"
#include "ir/prim.h"
#include "program/kernel.h"

namespace thunder {

// A product for each index of the batch; strides of the batch in elements, 0 where an operand is broadcast.
template <class T>
struct BatchedProduct {
  static constexpr size_t kMaxBatch = kMaxRank;
  struct Axis {
    int64_t size, a, b, c;
  };

  ProductOf<T> each;
  const T* bias = nullptr;  // n elements that every row of c starts from, or null
  int64_t bias_step = 1;
  size_t rank = 0;
  Axis batch[kMaxBatch];  // the first `rank` of them

  // Merges and swaps axes, without changing any element: fewer and larger products, with rows rather than columns.
  void simplify() {
    merge_rows();
    transpose_single_column();
  }

  // Requires: an index below count.
  ProductOf<T> at(int64_t index) const {
    ProductOf<T> p = each;
    for (size_t axis = rank; axis-- > 0;) {
      const Axis& x = batch[axis];
      const int64_t at = index % x.size;
      index /= x.size;
      p.a.data += at * x.a;
      p.b.data += at * x.b;
      p.c += at * x.c;
    }
    return p;
  }
  int64_t count() const {
    int64_t n = 1;
    for (size_t i = 0; i < rank; i++) n *= batch[i].size;
    return n;
  }

 private:
  // Batch axes along which b is broadcast, and rows of a continue where the previous ones ended, become rows of one
  // product.
  void merge_rows() {
    while (rank > 0) {
      const Axis& last = batch[rank - 1];
      const bool follows =
          last.b == 0 && (each.m == 1 || (last.a == each.m * each.a.row && last.c == each.m * each.c_row));
      if (!follows && last.size != 1) return;
      if (each.m == 1) each.a.row = last.a, each.c_row = last.c;
      each.m *= last.size;
      rank--;
    }
  }
  // A result with a single column is computed as a row of the transposed product.
  void transpose_single_column() {
    if (each.n != 1 || each.m == 1 || each.c_row != 1 || (bias && bias_step)) return;
    std::swap(each.m, each.n);
    std::swap(each.a, each.b);
    std::swap(each.a.row, each.a.column);
    std::swap(each.b.row, each.b.column);
    each.c_row = each.n;
    for (size_t i = 0; i < rank; i++) std::swap(batch[i].a, batch[i].b);
  }
};

// prims.matmul(a, b).
template <class T>
BatchedProduct<T> matmul_of(const Launch* launch) {
  const Buffer &a = launch->inputs[0], &b = launch->inputs[1], &c = launch->outputs[0];
  const auto matrix = [](const Buffer& x) {
    return MatrixOf<T>{x.as<T>(), x.strides[x.rank - 2], x.strides[x.rank - 1]};
  };
  const int32_t r = c.rank;
  BatchedProduct<T> p;
  p.each = {c.shape[r - 2], c.shape[r - 1], a.shape[r - 1], matrix(a), matrix(b), c.as<T>(), c.strides[r - 2], false};
  for (int32_t i = 0; i < r - 2; i++) p.batch[p.rank++] = {c.shape[i], a.strides[i], b.strides[i], c.strides[i]};
  return p;
}

// linear(x[..., k], weight [n, k] or [k], bias): every axis of x but the last counts rows.
template <class T>
BatchedProduct<T> linear_of(const Launch* launch) {
  const Buffer &x = launch->inputs[0], &w = launch->inputs[1], &bias = launch->inputs[2], &y = launch->outputs[0];
  const bool column = w.rank == 1;
  const int64_t n = column ? 1 : w.shape[0], k = w.shape[w.rank - 1];
  BatchedProduct<T> p;
  p.each = {1,
            n,
            k,
            {x.as<T>(), k, x.strides[x.rank - 1]},
            {w.as<T>(), w.strides[w.rank - 1], column ? k : w.strides[0]},
            y.as<T>(),
            n,
            false};
  if (bias.present()) p.bias = bias.as<T>();
  p.bias_step = bias.present() && bias.rank && n > 1 ? bias.strides[0] : 0;
  for (int32_t i = 0; i < x.rank - 1; i++) p.batch[p.rank++] = {x.shape[i], x.strides[i], 0, y.strides[i]};
  return p;
}

// The sizes of a node's product, without its batch axes. The rows of a linear are those of all dims but the last.
struct GemmSize {
  int64_t rows = 0, columns = 0, depth = 0;  // all 0: b is no matrix
};
inline GemmSize size_of_matmul(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.empty() || b.size() < 2) return {};
  return {a.size() < 2 ? 1 : a[a.size() - 2], b.back(), a.back()};
}
inline GemmSize size_of_linear(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.empty() || b.size() < 2) return {};
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < a.size(); i++) rows *= a[i];
  return {rows, b[0], a.back()};
}

// The ops that are matrix products.
template <class T>
struct ProductRow {
  std::string_view op;
  BatchedProduct<T> (*products)(const Launch*);
  GemmSize (*size)(std::span<const int64_t> a, std::span<const int64_t> b);
};
template <class T>
constexpr std::array kProductRows = {
    ProductRow<T>{name(Prim::matmul), matmul_of<T>, size_of_matmul},
    ProductRow<T>{"linear", linear_of<T>, size_of_linear},
};

// The part of a product that computes at most `rows` by `columns` of its result, from row i and column j on.
template <class T>
ProductOf<T> block_of(const ProductOf<T>& p, int64_t i, int64_t j, int64_t rows, int64_t columns) {
  ProductOf<T> block = p;
  block.m = std::min(rows, p.m - i), block.n = std::min(columns, p.n - j);
  block.a.data += i * p.a.row, block.b.data += j * p.b.column, block.c += i * p.c_row + j;
  return block;
}

// Computes products tile by tile, on the threads of a launch whose first result they are. multiply(tile) returns false
// when out of memory.
template <class T, class Multiply>
class TiledProducts {
 public:
  TiledProducts(const BatchedProduct<T>& products, Tiling tile, const Multiply& multiply)
      : products_(products), tile_(tile), multiply_(multiply), rows_(ceil_div(products.each.m, tile.rows)),
        columns_(ceil_div(products.each.n, tile.columns)) {}

  Status* run(const Launch* launch) const {
    constexpr int64_t kThreadWork = 1 << 18;  // multiply-adds; less is not worth another thread
    const ProductOf<T>& p = products_.each;
    const int64_t work = std::min(tile_.rows, p.m) * std::min(tile_.columns, p.n) * p.k;
    const int64_t grain = 1 + kThreadWork / std::max<int64_t>(1, work);
    const int64_t tiles = products_.count() * rows_ * columns_;
    return parallel_for(launch, tiles, grain, [&](int64_t begin, int64_t end) -> Status* {
      for (int64_t i = begin; i < end; i++) {
        const ProductOf<T> part = tile_product(i);
        if (!multiply_(part)) return out_of_memory_status();
        if (launch->epilogue) run_epilogue(*launch, part);
      }
      return nullptr;
    });
  }

 private:

  // A tile of one row may span several rows of the result, if the result's last dim was merged into rows.
  static void run_epilogue(const Launch& launch, const ProductOf<T>& tile) {
    const Buffer& c = launch.outputs[0];
    const int64_t begin = tile.c - c.as<T>(), columns = c.shape[c.rank - 1];
    for (int64_t done = 0; done < tile.n;) {
      const int64_t at = begin + done, some = std::min(tile.n - done, columns - at % columns);
      launch.epilogue->run({at / columns, tile.m, at % columns, some});
      done += some;
    }
  }

  // Where a column of tiles begins: at even places, at most tile_.columns apart.
  int64_t tile_column_begin(int64_t index) const {
    return ceil_div(products_.each.n, kColumnsStep) * index / columns_ * kColumnsStep;
  }

  // One below the other: the last row of tiles may be lower than the others, and is divided among threads so.
  ProductOf<T> tile_product(int64_t index) const {
    const int64_t i = index % rows_ * tile_.rows, at = index / rows_ % columns_, j = tile_column_begin(at);
    ProductOf<T> p =
        block_of(products_.at(index / (columns_ * rows_)), i, j, tile_.rows, tile_column_begin(at + 1) - j);
    if (products_.bias) fill_with_bias(p, products_.bias + j * products_.bias_step);
    return p;
  }

  void fill_with_bias(ProductOf<T>& p, const T* bias) const {
    const int64_t step = products_.bias_step;
    for (int64_t row = 0; row < p.m; row++) {
      T* c = p.c + row * p.c_row;
      if (step == 1) std::copy_n(bias, p.n, c);
      else
        for (int64_t column = 0; column < p.n; column++) c[column] = bias[column * step];
    }
    p.add = true;
  }

  const BatchedProduct<T>& products_;
  const Tiling tile_;
  const Multiply& multiply_;
  const int64_t rows_, columns_;
};

}  // namespace thunder
