// The candidates for autotuning: algorithms, each with tiles of several sizes.
#include <algorithm>

#include "executors/products/algorithms.h"

namespace thunder {
namespace {

constexpr int64_t kCandidateRows[] = {64, 128, 256, 512},
                  kCandidateColumns[] = {64, 128, 192, 256, 384, 512, 768, 1024, 2048};

std::vector<int64_t> tile_sizes(int64_t whole, std::span<const int64_t> candidates) {
  std::vector<int64_t> out;
  for (int64_t side : candidates)
    if (side < whole) out.push_back(side);
  if (out.empty() || whole <= candidates.back()) out.push_back(whole);
  return out;
}

// Whether an algorithm is a candidate for tiles of so many rows. Beyond some sizes our kernels are never the fastest,
// except the small one for a transposed b, since it transposes a panel at a time.
bool is_candidate(const AlgorithmRow<float>& row, const BatchedProduct<float>& products, int64_t rows) {
  constexpr int64_t kMaxThinRows = 16, kMaxSmallWork = 256 * 256 * 256;
  const Product& p = products.each;
  if (row.name == "thin") return p.m <= kMaxThinRows;
  if (row.name == "transposed") return rows == p.m || rows % ProductKernels::kMaxColumns == 0;
  if (row.name == "small") return p.m * p.n * p.k <= kMaxSmallWork || p.b.column != 1;
  return row.by_tile;
}

}  // namespace

std::vector<Algorithm> algorithms_of(const Backends& backends, const Available& available,
                                     const BatchedProduct<float>& products) {
  const std::span<const AlgorithmRow<float>> rows_of_f32 = algorithms_of_f32();
  const Product& p = products.each;
  std::vector<Algorithm> out = {algorithm_of(backends, available, products)};
  if (p.k == 0 || !(out[0].row->by_tile || out[0].row->name == "transposed")) return out;
  for (int64_t rows : tile_sizes(p.m, kCandidateRows))
    for (int64_t columns : tile_sizes(p.n, kCandidateColumns))
      for (size_t i = 0; i < rows_of_f32.size(); i++) {
        const Algorithm algorithm{&rows_of_f32[i], {rows, columns}};
        if (!available[i] || !algorithm.row->can(products) || !is_candidate(*algorithm.row, products, rows)) continue;
        if (std::find(out.begin(), out.end(), algorithm) == out.end()) out.push_back(algorithm);
      }
  return out;
}

}  // namespace thunder
