#include "executors/cpu/tiling.h"

#include <algorithm>

namespace thunder {
namespace {

// Tiles are halved until one has at most the given work, but not below what amortizes packing.
constexpr int64_t kRows = 256, kColumns = 768, kMinColumns = 256, kMinRows = 256;
constexpr int64_t kEvenTiles = 4;
constexpr int64_t kRowsStep = 12;  // whole blocks of most kernels
constexpr int64_t kSmall = 1 << 21;  // multiply-adds of a product that is not divided

// Threads get equal numbers of equal tiles: a small number of tiles is made divisible by two and four, and the steps of
// a tile fewer where halves of the tiles have as many columns then.
void balance_tiles(int64_t m, int64_t n, int64_t k, Tiling& t) {
  const int64_t rows = ceil_div(m, t.rows), steps = ceil_div(n, kColumnsStep);
  int64_t columns = ceil_div(n, t.columns);
  const bool whole = rows * columns == 1 && m * n * k < kSmall;
  const bool uneven = !whole && rows % kEvenTiles != 0 && columns < 16 * kEvenTiles;
  if (uneven) columns = round_up(columns, kEvenTiles);
  int64_t each = ceil_div(steps, columns), fewer = each;
  while (fewer > 1 && 2 * fewer >= each && steps % (2 * fewer) != 0) fewer--;
  if (uneven && 2 * fewer >= each && steps % (2 * fewer) == 0) each = fewer;
  t.rows = std::min(m, round_up(ceil_div(m, rows), kRowsStep));
  t.columns = each * kColumnsStep;
}

}  // namespace

Tiling tiling(int64_t m, int64_t n, int64_t k, int64_t work) {
  Tiling t{std::min(m, kRows), std::min(n, kColumns)};
  const auto large = [&] { return t.rows * t.columns * k > work; };
  while (large() && t.columns >= 2 * kMinColumns) t.columns /= 2;
  while (large() && t.rows >= 2 * kMinRows) t.rows /= 2;
  balance_tiles(m, n, k, t);
  return t;
}

Tiling thin_tiling(int64_t m, int64_t k) {
  constexpr int64_t kWork = 1 << 16;  // elements of b in a tile: few, so that threads finish together
  return {m, std::max(kColumnsStep, kWork / std::max<int64_t>(1, k) / kColumnsStep * kColumnsStep)};
}

}  // namespace thunder
