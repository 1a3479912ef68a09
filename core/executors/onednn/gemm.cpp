#include "executors/onednn/gemm.h"

#include <algorithm>

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

bool can_be_thin(const Product& p) { return p.a.column == 1 && (p.b.row == 1 || p.b.column == 1); }

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
    case Way::Kernel::library: break;
  }
  return library.multiply(p);
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
  constexpr const char* kNames[] = {"small", "thin", "library"};
  return cat(kNames[static_cast<size_t>(way.kernel)], " ", way.tile.rows, "x", way.tile.columns);
}

Way way_of(const Product& p) {
  const Tiling tile = tiling_of(p);
  Product first = p;
  first.m = std::min(p.m, tile.rows), first.n = std::min(p.n, tile.columns);
  return {kernel_of(first), tile};
}

std::vector<Way> ways_of(const Product& p) {
  std::vector<Way> out = {way_of(p)};
  const auto add = [&](const Way& way) {
    if (std::find(out.begin(), out.end(), way) == out.end()) out.push_back(way);
  };
  if (p.k == 0) return out;
  for (int64_t rows : sides(p.m, kTriedRows))
    for (int64_t columns : sides(p.n, kTriedColumns)) {
      if (Library::multiplies(p)) add({Way::Kernel::library, {rows, columns}});
      if (p.m <= kMostThinRows && can_be_thin(p)) add({Way::Kernel::thin, {rows, columns}});
      if (p.m * p.n * p.k <= kMostSmallWork || p.b.column != 1) add({Way::Kernel::small, {rows, columns}});
    }
  return out;
}

// With AVX-512 nothing was gained.
bool pays_to_pack(BatchedProduct<float> products) {
  products.simplify();
  return products.each.m > kThinRows && products.each.n >= kColumnsStep && products.each.k > 0 && instructions_of_this_machine() == Instructions::avx2;
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

Status* run_products(const Library& library, const Launch* launch, BatchedProduct<float> products, const Way* chosen) {
  products.simplify();
  const Product& p = products.each;
  if (p.m == 0 || p.n == 0) return nullptr;
  const auto on_this_thread = [&](const Product& tile) { return chosen ? multiply(library, tile, chosen->kernel) : multiply(library, tile); };
  return TiledProducts(products, chosen ? chosen->tile : tiling_of(p), on_this_thread).run(launch);
}

}  // namespace thunder
