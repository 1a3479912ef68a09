#include "executors/onednn/gemm.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.h"

namespace thunder {
namespace {

// ---- the cost model ----

// Up to here a library call's preparation costs more than its faster kernel saves (multiply-adds): sooner where b's rows are not dense and
// fill no panel of ours.
constexpr int64_t kSmallWork = 64 * 64 * 64, kSmallWorkOfFewColumns = 16 * 32 * 32;
// A few milliseconds.
constexpr int64_t kTileWork = 1 << 28;

Tiling tiling_of(const Product& p) {
  return p.m > kThinRows ? tiling(p.m, p.n, p.k, kTileWork) : thin_tiling(p.m, p.k);
}

// Turning the result instead of the weight pays from where rows fill half a panel to where a weight serves so many of them that either is
// little work, and from a depth on.
constexpr int64_t kLeastTurnedRows = 16, kMostTurnedRows = 512, kLeastTurnedDepth = 256;
constexpr int64_t kTurnedRows = 256;  // of a tile, whose panels stay in the second-level cache

bool can_be_thin(const Product& p) { return p.a.column == 1 && (p.b.row == 1 || p.b.column == 1); }
bool can_be_turned(const BatchedProduct<float>& products) { return products.rank == 0 && products.each.b.row == 1; }

bool pays_to_turn(const BatchedProduct<float>& products) {
  const Product& p = products.each;
  return can_be_turned(products) && p.b.column != 1 && p.m >= kLeastTurnedRows && p.m <= kMostTurnedRows && p.k >= kLeastTurnedDepth && p.n >= kColumnsStep;
}

// Of a tile; the tiles of a product may be smaller than what its tiling says.
Way::Kernel kernel_of(const Product& p) {
  if (p.m <= kThinRows && can_be_thin(p)) return Way::Kernel::thin;
  const bool fills_panels = p.b.column == 1 || p.n >= Kernels::kMostColumns;
  const bool small = p.m * p.n * p.k <= (fills_panels ? kSmallWork : kSmallWorkOfFewColumns) || !Library::multiplies(p);
  return small ? Way::Kernel::small : Way::Kernel::library;
}

bool multiply(const Library& library, const Product& p, Way::Kernel kernel) {
  switch (kernel) {
    case Way::Kernel::thin: return library.kernels().thin(p), true;
    case Way::Kernel::small: return library.kernels().small(p), true;
    default: return library.multiply(p);
  }
}

// ---- what is tried ----

constexpr int64_t kTriedRows[] = {64, 128, 256, 512}, kTriedColumns[] = {64, 128, 192, 256, 384, 512, 768, 1024, 2048};
// Beyond these a kernel has lost for certain; but where b is turned, which ours does a panel at a time.
constexpr int64_t kMostThinRows = 16, kMostSmallWork = 256 * 256 * 256;

std::vector<int64_t> sides(int64_t whole, std::span<const int64_t> tried) {
  std::vector<int64_t> out;
  for (int64_t side : tried)
    if (side < whole) out.push_back(side);
  if (out.empty() || whole <= tried.back()) out.push_back(whole);
  return out;
}

}  // namespace

std::string name(const Way& way) {
  constexpr const char* kNames[] = {"small", "thin", "turned", "library"};
  return cat(kNames[static_cast<size_t>(way.kernel)], " ", way.tile.rows, "x", way.tile.columns);
}

Way way_of(const BatchedProduct<float>& products) {
  const Product& p = products.each;
  const Tiling tile = tiling_of(p);
  if (pays_to_turn(products)) return {Way::Kernel::turned, {std::min(p.m, kTurnedRows), tile.columns}};
  Product first = p;
  first.m = std::min(p.m, tile.rows), first.n = std::min(p.n, tile.columns);
  return {kernel_of(first), tile};
}

std::vector<Way> ways_of(const BatchedProduct<float>& products) {
  const Product& p = products.each;
  std::vector<Way> out = {way_of(products)};
  const auto add = [&](const Way& way) {
    if (std::find(out.begin(), out.end(), way) == out.end()) out.push_back(way);
  };
  if (p.k == 0) return out;
  for (int64_t rows : sides(p.m, kTriedRows))
    for (int64_t columns : sides(p.n, kTriedColumns)) {
      if (Library::multiplies(p)) add({Way::Kernel::library, {rows, columns}});
      if (p.m <= kMostThinRows && can_be_thin(p)) add({Way::Kernel::thin, {rows, columns}});
      if (can_be_turned(products) && (rows == p.m || rows % Kernels::kMostColumns == 0)) add({Way::Kernel::turned, {rows, columns}});
      if (p.m * p.n * p.k <= kMostSmallWork || p.b.column != 1) add({Way::Kernel::small, {rows, columns}});
    }
  return out;
}

Panels make_panels(size_t bytes) {
  constexpr auto kLine = static_cast<int64_t>(kCacheLine);
  Panels panels(static_cast<float*>(std::aligned_alloc(kLine, static_cast<size_t>(up_to(static_cast<int64_t>(bytes), kLine)))));
  return panels ? std::move(panels) : throw std::bad_alloc();
}

// With AVX-512 nothing was gained.
bool pays_to_pack(const Library& library, BatchedProduct<float> products) {
  products.simplify();
  return products.each.m > kThinRows && products.each.n >= kColumnsStep && products.each.k > 0 && library.instructions() == Instructions::avx2;
}

Status* run_packed(const Library& library, const Launch* launch, BatchedProduct<float> products, const float* panels) {
  const Kernels& own = library.kernels();
  products.each.b = {panels, own.panel_columns, products.each.k};
  products.simplify();
  const Product& p = products.each;
  if (p.m == 0) return nullptr;
  const auto on_this_thread = [&own](const Product& tile) { return own.packed(tile), true; };
  return TiledProducts(products, tiling(p.m, p.n, p.k, kTileWork), on_this_thread).run(launch);
}

bool multiply(const Library& library, const Product& p) { return multiply(library, p, kernel_of(p)); }

namespace {

struct Packing {
  const Kernels& own;
  const Product& p;
  float* panels;
};

Status* pack_rows(int64_t begin, int64_t end, void* arg) {
  const auto& [own, p, panels] = *static_cast<const Packing*>(arg);
  const int64_t first = begin * own.panel_columns, rows = std::min(end * own.panel_columns, p.m) - first;
  own.pack({p.a.data + first * p.a.row, p.a.column, p.a.row}, p.k, rows, panels + first * p.k);
  return nullptr;
}

// All rows of a are packed first, by all threads for all.
Status* run_turned(const Library& library, const Launch* launch, BatchedProduct<float> products, const Tiling& tile) {
  constexpr int64_t kThreadElements = 1 << 15;
  const Kernels& own = library.kernels();
  Product& p = products.each;
  auto* const panels = static_cast<float*>(launch->scratch);
  Packing packing{own, p, panels};
  const int64_t grain = parts(kThreadElements, own.panel_columns * p.k);
  if (Status* failed = launch->parallel_for(launch, parts(p.m, own.panel_columns), grain, pack_rows, &packing)) return failed;
  p.a = {panels, p.k, 0};
  const float* const bias = products.bias_step == 1 ? std::exchange(products.bias, nullptr) : nullptr;
  const auto on_this_thread = [&](const Product& part) {
    own.turned(part, bias ? bias + (part.b.data - p.b.data) / p.b.column : nullptr);
    return true;
  };
  return TiledProducts(products, tile, on_this_thread).run(launch);
}

}  // namespace

size_t scratch_of(const Library& library, const Product& p, const Way& way) {
  return way.kernel == Way::Kernel::turned ? static_cast<size_t>(up_to(p.m, library.kernels().panel_columns) * p.k) * sizeof(float) : 0;
}

Status* run_products(const Library& library, const Launch* launch, BatchedProduct<float> products, const Way* chosen) {
  products.simplify();
  const Product& p = products.each;
  if (p.m == 0 || p.n == 0) return nullptr;
  const Way way = chosen ? *chosen : way_of(products);
  const bool turns = way.kernel == Way::Kernel::turned;
  if (turns && launch->scratch && can_be_turned(products)) return run_turned(library, launch, products, way.tile);
  // Tiles at the edges are smaller: without a choice each has the kernel that suits it.
  const bool by_tile = !chosen || turns;
  const auto on_this_thread = [&](const Product& tile) { return by_tile ? multiply(library, tile) : multiply(library, tile, way.kernel); };
  return TiledProducts(products, turns ? tiling_of(p) : way.tile, on_this_thread).run(launch);
}

}  // namespace thunder
