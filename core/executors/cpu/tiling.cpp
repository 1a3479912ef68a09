#include "executors/cpu/tiling.h"

#include <algorithm>

namespace thunder {
namespace {

// Tiles are halved until one takes as much work as it may, but not below what its kernel needs to pay for packing.
constexpr int64_t kRows = 256, kColumns = 512, kLeastColumns = 256, kLeastRows = 128;
constexpr int64_t kEvenTiles = 4;

// Threads take equal numbers of tiles, so that few tiles must be a number that two and four divide.
void even_out(int64_t m, int64_t n, Tiling& t) {
  const int64_t rows = (m + t.rows - 1) / t.rows, columns = (n + t.columns - 1) / t.columns;
  if (rows % kEvenTiles == 0 || columns % kEvenTiles == 0 || rows * columns == 1 || columns > 16 * kEvenTiles) return;
  const int64_t more = (columns + kEvenTiles - 1) / kEvenTiles * kEvenTiles;
  t.columns = (n / more + kColumnsStep - 1) / kColumnsStep * kColumnsStep;
}

}  // namespace

Tiling tiling(int64_t m, int64_t n, int64_t k, int64_t work) {
  Tiling t{std::min(m, kRows), std::min(n, kColumns)};
  const auto large = [&] { return t.rows * t.columns * k > work; };
  while (large() && t.columns >= 2 * kLeastColumns) t.columns /= 2;
  while (large() && t.rows >= 2 * kLeastRows) t.rows /= 2;
  even_out(m, n, t);
  return t;
}

Tiling thin_tiling(int64_t m, int64_t k) {
  constexpr int64_t kWork = 1 << 20;  // so much of b
  return {m, std::max(kColumnsStep, kWork / std::max<int64_t>(1, k) / kColumnsStep * kColumnsStep)};
}

}  // namespace thunder
