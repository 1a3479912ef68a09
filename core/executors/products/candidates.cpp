// The candidates for autotuning: which algorithms in which tiles are worth a try.
#include <algorithm>

#include "executors/products/algorithms.h"

namespace thunder {
namespace {

constexpr int64_t kTriedRows[] = {64, 128, 256, 512}, kTriedColumns[] = {64, 128, 192, 256, 384, 512, 768, 1024, 2048};

std::vector<int64_t> sides(int64_t whole, std::span<const int64_t> tried) {
  std::vector<int64_t> out;
  for (int64_t side : tried)
    if (side < whole) out.push_back(side);
  if (out.empty() || whole <= tried.back()) out.push_back(whole);
  return out;
}

// Whether a row is a candidate for tiles of so many rows. Our kernels cannot win beyond some sizes, except the small
// one where b is transposed, since it transposes a panel at a time.
bool is_tried(const AlgorithmRow<float>& row, const BatchedProduct<float>& products, int64_t rows) {
  constexpr int64_t kMostThinRows = 16, kMostSmallWork = 256 * 256 * 256;
  const Product& p = products.each;
  if (row.name == "thin") return p.m <= kMostThinRows;
  if (row.name == "transposed") return rows == p.m || rows % ProductKernels::kMostColumns == 0;
  if (row.name == "small") return p.m * p.n * p.k <= kMostSmallWork || p.b.column != 1;
  return row.by_tile;
}

}  // namespace

std::vector<Algorithm> algorithms_of(const Backends& backends, const Available& available,
                                     const BatchedProduct<float>& products) {
  const std::span<const AlgorithmRow<float>> rows_of_f32 = algorithms_of_f32();
  const Product& p = products.each;
  std::vector<Algorithm> out = {algorithm_of(backends, available, products)};
  if (p.k == 0 || !(out[0].row->by_tile || out[0].row->name == "transposed")) return out;
  for (int64_t rows : sides(p.m, kTriedRows))
    for (int64_t columns : sides(p.n, kTriedColumns))
      for (size_t i = 0; i < rows_of_f32.size(); i++) {
        const Algorithm algorithm{&rows_of_f32[i], {rows, columns}};
        if (!available[i] || !algorithm.row->can(products) || !is_tried(*algorithm.row, products, rows)) continue;
        if (std::find(out.begin(), out.end(), algorithm) == out.end()) out.push_back(algorithm);
      }
  return out;
}

}  // namespace thunder
