#include "executors/onednn/gemm.h"

#include <algorithm>
#include <utility>

#include "ir/shape.h"

namespace thunder {
namespace {

// ---- the cost model ----

// Up to here a library call's preparation costs more than its faster kernel saves (multiply-adds); sooner when b's rows
// are not dense, since ours turns them element by element.
constexpr int64_t kSmallWork = 64 * 64 * 64, kSmallTurnedWork = 16 * 32 * 32;
// Up to here reading b once is what counts.
constexpr int64_t kThinRows = 4;
// Tiles are halved until one takes about a millisecond, but not below what its kernel needs to pay for packing.
constexpr int64_t kTileRows = 256, kTileColumns = 512, kTileWork = 1 << 26, kLeastColumns = 256, kLeastRows = 128;
// A tile of few rows is so much of b.
constexpr int64_t kThinWork = 1 << 20;
// Less is not worth another thread.
constexpr int64_t kThreadWork = 1 << 18;
constexpr int64_t kEvenTiles = 4;
constexpr int64_t kColumnsStep = 64;  // whole vectors of any width, and cache lines of c

bool thin(const Product& p) { return p.m <= kThinRows && p.a.column == 1 && (p.b.row == 1 || p.b.column == 1); }

struct Tiling {
  int64_t rows, columns;
};
// Threads take equal numbers of tiles, so that few tiles must be a number that two and four divide.
void even_out(const Product& p, Tiling& t) {
  const int64_t rows = (p.m + t.rows - 1) / t.rows, columns = (p.n + t.columns - 1) / t.columns;
  if (rows % kEvenTiles == 0 || columns % kEvenTiles == 0 || rows * columns == 1 || columns > 16 * kEvenTiles) return;
  const int64_t more = (columns + kEvenTiles - 1) / kEvenTiles * kEvenTiles;
  t.columns = (p.n / more + kColumnsStep - 1) / kColumnsStep * kColumnsStep;
}
// Depends on the sizes alone.
Tiling tiling(const Product& p) {
  Tiling t{std::min(p.m, kTileRows), std::min(p.n, kTileColumns)};
  if (p.m <= kThinRows) {
    t.columns = std::max(kColumnsStep, kThinWork / std::max<int64_t>(1, p.k) / kColumnsStep * kColumnsStep);
    return t;
  }
  auto large = [&] { return t.rows * t.columns * p.k > kTileWork; };
  while (large() && t.columns >= 2 * kLeastColumns) t.columns /= 2;
  while (large() && t.rows >= 2 * kLeastRows) t.rows /= 2;
  even_out(p, t);
  return t;
}

// A column of results is a row when everything is turned around.
void prefer_rows(BatchedProduct& products) {
  Product& p = products.each;
  if (p.n != 1 || p.m == 1 || p.c_row != 1 || (products.bias && products.bias_step)) return;
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.a.row, p.a.column);
  std::swap(p.b.row, p.b.column);
  p.c_row = p.n;
  for (size_t i = 0; i < products.rank; i++) std::swap(products.batch[i].a, products.batch[i].b);
}

// ---- the tiles of a launch ----

struct Job {
  const Library& library;
  const BatchedProduct& products;
  Tiling tile;
  int64_t row_tiles, column_tiles;

  int64_t count() const {
    int64_t n = row_tiles * column_tiles;
    for (size_t i = 0; i < products.rank; i++) n *= products.batch[i].size;
    return n;
  }

  Product at(int64_t index) const {
    Product p = products.each;
    const int64_t j = index % column_tiles * tile.columns, i = index / column_tiles % row_tiles * tile.rows;
    int64_t rest = index / (column_tiles * row_tiles);
    p.m = std::min(tile.rows, p.m - i);
    p.n = std::min(tile.columns, p.n - j);
    p.a.data += i * p.a.row;
    p.b.data += j * p.b.column;
    p.c += i * p.c_row + j;
    for (size_t axis = products.rank; axis-- > 0;) {
      const BatchedProduct::Axis& x = products.batch[axis];
      const int64_t at = rest % x.size;
      rest /= x.size;
      p.a.data += at * x.a;
      p.b.data += at * x.b;
      p.c += at * x.c;
    }
    if (products.bias) {
      const float* bias = products.bias + j * products.bias_step;
      for (int64_t row = 0; row < p.m; row++) {
        float* c = p.c + row * p.c_row;
        if (products.bias_step == 1) std::copy_n(bias, p.n, c);
        else
          for (int64_t column = 0; column < p.n; column++) c[column] = bias[column * products.bias_step];
      }
      p.add = true;
    }
    return p;
  }
};

Status* run_tiles(int64_t begin, int64_t end, void* arg) {
  const Job& job = *static_cast<const Job*>(arg);
  const Library::OneThread one(job.library);
  for (int64_t i = begin; i < end; i++)
    if (!multiply(job.library, job.at(i))) return out_of_memory_status();
  return nullptr;
}

}  // namespace

bool multiply(const Library& library, const Product& p) {
  const Kernels& own = library.kernels();
  if (thin(p)) own.thin(p);
  else if (p.m * p.n * p.k <= (p.b.column == 1 ? kSmallWork : kSmallTurnedWork) || !Library::multiplies(p)) own.small(p);
  else return library.multiply(p);
  return true;
}

void BatchedProduct::merge_rows() {
  while (rank > 0) {
    const Axis& last = batch[rank - 1];
    const bool follows = last.b == 0 && (each.m == 1 || (last.a == each.m * each.a.row && last.c == each.m * each.c_row));
    if (!follows && last.size != 1) return;
    if (each.m == 1) each.a.row = last.a, each.c_row = last.c;
    each.m *= last.size;
    rank--;
  }
}

Status* run_products(const Library& library, const Launch* launch, BatchedProduct& products) {
  Product& p = products.each;
  products.merge_rows();
  prefer_rows(products);
  if (p.m == 0 || p.n == 0) return nullptr;
  const Tiling tile = tiling(p);
  Job job{library, products, tile, (p.m + tile.rows - 1) / tile.rows, (p.n + tile.columns - 1) / tile.columns};
  const int64_t work = std::min(tile.rows, p.m) * std::min(tile.columns, p.n) * p.k;
  return launch->parallel_for(launch, job.count(), 1 + kThreadWork / std::max<int64_t>(1, work), run_tiles, &job);
}

}  // namespace thunder
