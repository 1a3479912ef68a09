#include "executors/cpu/products/algorithms.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.h"
#include "base/tile_registers.h"
#include "executors/cpu/products/amx_product.h"
#include "executors/cpu/products/narrow.h"

namespace thunder {
namespace {

// ---- predicates of the rows ----

bool is_always_available(const Backends&, Precision) { return true; }
bool has_tile_registers(const Backends& m, Precision) { return m.tile_registers && enable_tile_registers(); }
// A product of so many bf16 parts of each f32, where no more need be kept.
template <Precision kept>
bool may_round(const Backends& m, Precision precision) {
  return precision == kept && has_tile_registers(m, precision);
}
bool suits_any_size(const GemmSize&) { return true; }
template <class T>
bool takes_any_layout(const BatchedProduct<T>&) {
  return true;
}
template <class T>
bool is_always_profitable(const Backends&, const ProductOf<T>&) {
  return true;
}

// For f32: from this size on (of rows, columns and depth) splitting numbers into bf16 parts costs less than AMX saves.
// For bf16: one or two rows are bound by reading b, which AMX would have to pack first.
bool is_large(const GemmSize& s) {
  constexpr int64_t kMinSide = 32;
  return s.rows >= kMinSide && s.columns >= kMinSide && s.depth >= kMinSide;
}
bool has_more_than_two_rows(const GemmSize& s) {
  constexpr int64_t kFewRows = 2;
  return s.rows > kFewRows;
}

template <class T>
Tiling tiling_for_tile_registers(const ProductOf<T>& p) {
  constexpr int64_t kTileWork = 1 << 27;  // multiply-adds of a thread's tile
  return tiling(p.m, p.n, p.k, kTileWork);
}
template <class T, int kParts>
bool multiply_on_tile_registers(const Backends& backends, const ProductOf<T>& p) {
  return AmxProduct<T, kParts>::multiply(p, backends.kernels);
}

// ---- f32: the cost model ----

// Up to this many multiply-adds our kernels are faster than a library call with its overhead. The limit is lower if b's
// columns are dense and do not fill a panel.
constexpr int64_t kSmallWork = 64 * 64 * 64, kSmallWorkOfFewColumns = 16 * 32 * 32;
constexpr int64_t kTileWork = 1 << 28;  // multiply-adds of a thread's tile: a few milliseconds

template <class T>
Tiling tiling_of(const ProductOf<T>& p) {
  return p.m > kThinRows ? tiling(p.m, p.n, p.k, kTileWork) : thin_tiling(p.m, p.k);
}

// Computing the transposed result is profitable if rows fill at least half a panel, but are not so many that packing
// the weight is amortized, and if the depth is not small.
constexpr int64_t kMinTransposedRows = 16, kMaxTransposedRows = 512, kMinTransposedDepth = 256;
constexpr int64_t kTransposedRows = 256;  // of a tile, whose panels stay in the L2 cache

Tiling tiling_of_transposed(const Product& p) { return {std::min(p.m, kTransposedRows), tiling_of(p).columns}; }

bool can_be_thin(const Product& p) { return p.a.column == 1 && (p.b.row == 1 || p.b.column == 1); }
bool can_be_transposed(const BatchedProduct<float>& products) { return products.rank == 0 && products.each.b.row == 1; }

bool transposing_is_profitable(const Backends&, const Product& p) {
  return p.b.column != 1 && p.m >= kMinTransposedRows && p.m <= kMaxTransposedRows && p.k >= kMinTransposedDepth &&
         p.n >= kColumnsStep;
}
bool thin_is_profitable(const Backends&, const Product& p) { return p.m <= kThinRows && can_be_thin(p); }
bool small_is_profitable(const Backends&, const Product& p) {
  const bool fills_panels = p.b.column == 1 || p.n >= ProductKernels::kMaxColumns;
  return p.m * p.n * p.k <= (fills_panels ? kSmallWork : kSmallWorkOfFewColumns);
}
bool library_is_profitable(const Backends&, const Product& p) { return Library::can_multiply(p); }

bool multiply_transposed(const Backends& backends, const Product& p) { return backends.kernels.small(p), true; }

// ---- the tables ----

constexpr AlgorithmRow<float> kAlgorithmsOfF32[] = {
    {"amx_high", may_round<Precision::high>, is_large, takes_any_layout<float>, is_always_profitable<float>,
     tiling_for_tile_registers<float>, multiply_on_tile_registers<float, 2>, false},
    {"amx_medium", may_round<Precision::medium>, is_large, takes_any_layout<float>, is_always_profitable<float>,
     tiling_for_tile_registers<float>, multiply_on_tile_registers<float, 1>, false},
    {"transposed", is_always_available, suits_any_size, can_be_transposed, transposing_is_profitable,
     tiling_of_transposed, multiply_transposed, false},
    {"thin", is_always_available, suits_any_size, [](const BatchedProduct<float>& p) { return can_be_thin(p.each); },
     thin_is_profitable, tiling_of, [](const Backends& m, const Product& p) { return m.kernels.thin(p), true; }, true},
    {"small", is_always_available, suits_any_size, takes_any_layout<float>, small_is_profitable, tiling_of,
     [](const Backends& m, const Product& p) { return m.kernels.small(p), true; }, true},
    {"onednn", [](const Backends& m, Precision) { return m.library != nullptr; }, suits_any_size,
     [](const BatchedProduct<float>& p) { return Library::can_multiply(p.each); }, library_is_profitable, tiling_of,
     [](const Backends& m, const Product& p) { return m.library->multiply(p); }, true},
    {"blocked", is_always_available, suits_any_size, takes_any_layout<float>, is_always_profitable<float>, tiling_of,
     [](const Backends& m, const Product& p) { return multiply_blocked(m.kernels, p), true; }, true},
};
constexpr const AlgorithmRow<float>& kTransposed = kAlgorithmsOfF32[2];
static_assert(kTransposed.name == "transposed");

constexpr AlgorithmRow<Bf16> kAlgorithmsOfBf16[] = {
    {"amx", has_tile_registers, has_more_than_two_rows, takes_any_layout<Bf16>, is_always_profitable<Bf16>,
     tiling_for_tile_registers<Bf16>, multiply_on_tile_registers<Bf16, 1>, false},
    {"pairs", [](const Backends& m, Precision) { return m.pairs != nullptr; }, suits_any_size, takes_any_layout<Bf16>,
     [](const Backends&, const ProductOf<Bf16>& p) { return !is_thin(p); }, tiling_of_bf16,
     [](const Backends& m, const ProductOf<Bf16>& p) { return multiply_bf16({m.kernels, m.pairs}, p); }, true},
    {"widened", is_always_available, suits_any_size, takes_any_layout<Bf16>, is_always_profitable<Bf16>, tiling_of_bf16,
     [](const Backends& m, const ProductOf<Bf16>& p) { return multiply_bf16({m.kernels, nullptr}, p); }, true},
};

constexpr AlgorithmRow<f16> kAlgorithmsOfF16[] = {
    {"widened", is_always_available, suits_any_size, takes_any_layout<f16>, is_always_profitable<f16>, tiling_of,
     [](const Backends& m, const ProductOf<f16>& p) { return multiply_f16(m.kernels, p); }, false},
};

// ---- selection ----

// The row for one tile, among those that compute tiles of any size; the last row of each table takes everything.
template <class T>
const AlgorithmRow<T>& choose_row_for_tile(const Backends& backends, const Available& available,
                                           const ProductOf<T>& tile) {
  const auto rows = algorithms<T>();
  size_t i = 0;
  while (i + 1 < rows.size() && !(rows[i].by_tile && available[i] && rows[i].is_profitable(backends, tile))) i++;
  return rows[i];
}

}  // namespace

template <>
std::span<const AlgorithmRow<float>> algorithms<float>() { return kAlgorithmsOfF32; }
template <>
std::span<const AlgorithmRow<Bf16>> algorithms<Bf16>() { return kAlgorithmsOfBf16; }
template <>
std::span<const AlgorithmRow<f16>> algorithms<f16>() { return kAlgorithmsOfF16; }

std::string name(const Algorithm& algorithm) {
  return cat(algorithm.row->name, " ", algorithm.tile.rows, "x", algorithm.tile.columns);
}

template <class T>
AlgorithmOf<T> choose_algorithm(const Backends& backends, const Available& available,
                                const BatchedProduct<T>& products) {
  const auto rows = algorithms<T>();
  for (size_t i = 0; i < rows.size(); i++) {
    const AlgorithmRow<T>& row = rows[i];
    if (!available[i] || !row.can(products)) continue;
    const Tiling tile = row.tiling(products.each);
    ProductOf<T> first = products.each;
    if (row.by_tile) first.m = std::min(first.m, tile.rows), first.n = std::min(first.n, tile.columns);
    if (row.is_profitable(backends, first)) return {&row, tile};
  }
  return {&rows.back(), rows.back().tiling(products.each)};
}
template Algorithm choose_algorithm(const Backends&, const Available&, const BatchedProduct<float>&);

Panels allocate_panels(size_t bytes) {
  constexpr auto kLine = static_cast<int64_t>(kCacheLine);
  Panels panels(static_cast<float*>(
      std::aligned_alloc(kLine, static_cast<size_t>(round_up(static_cast<int64_t>(bytes), kLine)))));
  return panels ? std::move(panels) : throw std::bad_alloc();
}

// With AVX-512, measurements showed no gain.
bool prepacking_is_profitable(const Backends& backends, BatchedProduct<float> products) {
  products.simplify();
  return products.each.m > kThinRows && products.each.n >= kColumnsStep && products.each.k > 0 &&
         backends.instructions == Instructions::avx2;
}

Status* run_prepacked(const Backends& backends, const Launch* launch, BatchedProduct<float> products,
                      const float* panels) {
  const ProductKernels& own = backends.kernels;
  products.each.b = {panels, own.panel_columns, products.each.k};
  products.simplify();
  const Product& p = products.each;
  if (p.m == 0) return nullptr;
  const auto on_this_thread = [&own](const Product& tile) { return own.packed(tile), true; };
  return TiledProducts(products, tiling(p.m, p.n, p.k, kTileWork), on_this_thread).run(launch);
}

void multiply_blocked(const ProductKernels& kernels, const Product& p) {
  constexpr int64_t kRows = 192, kDepth = 256;
  int64_t l = 0;
  do {  // once even when k is 0: c is written
    for (int64_t i = 0; i < p.m; i += kRows) {
      Product block = p;
      block.m = std::min(kRows, p.m - i), block.k = std::min(kDepth, p.k - l);
      block.a.data += i * p.a.row + l * p.a.column, block.b.data += l * p.b.row, block.c += i * p.c_row;
      block.add = p.add || l > 0;
      kernels.small(block);
    }
    l += kDepth;
  } while (l < p.k);
}

namespace {

// Packs all rows of a first, on all threads.
Status* run_transposed(const Backends& backends, const Launch* launch, BatchedProduct<float> products,
                       const Tiling& tile) {
  constexpr int64_t kThreadElements = 1 << 15;
  const ProductKernels& own = backends.kernels;
  Product& p = products.each;
  auto* const panels = static_cast<float*>(launch->scratch);
  const auto pack_rows = [&](int64_t begin, int64_t end) -> Status* {
    const int64_t first = begin * own.panel_columns, rows = std::min(end * own.panel_columns, p.m) - first;
    own.pack({p.a.data + first * p.a.row, p.a.column, p.a.row}, p.k, rows, panels + first * p.k);
    return nullptr;
  };
  const int64_t grain = ceil_div(kThreadElements, own.panel_columns * p.k);
  if (Status* failed = parallel_for(launch, ceil_div(p.m, own.panel_columns), grain, pack_rows)) return failed;
  p.a = {panels, p.k, 0};
  const float* const bias = products.bias_step == 1 ? std::exchange(products.bias, nullptr) : nullptr;
  const auto on_this_thread = [&](const Product& part) {
    own.transposed_result(part, bias ? bias + (part.b.data - p.b.data) / p.b.column : nullptr);
    return true;
  };
  return TiledProducts(products, tile, on_this_thread).run(launch);
}

}  // namespace

size_t scratch_bytes_of(const Backends& backends, const Product& p, const Algorithm& algorithm) {
  return algorithm.row == &kTransposed
             ? static_cast<size_t>(round_up(p.m, backends.kernels.panel_columns) * p.k) * sizeof(float)
             : 0;
}

template <class T>
Status* run_products(const Backends& backends, const Available& available, const Launch* launch,
                     BatchedProduct<T> products, const AlgorithmOf<T>* chosen) {
  products.simplify();
  if (products.each.m == 0 || products.each.n == 0) return nullptr;
  AlgorithmOf<T> algorithm = chosen ? *chosen : choose_algorithm(backends, available, products);
  // Without an explicit choice, each tile is computed by the row that suits it.
  bool by_tile = !chosen && algorithm.row->by_tile;
  if constexpr (std::is_same_v<T, float>) {
    if (algorithm.row == &kTransposed) {
      if (launch->scratch && can_be_transposed(products))
        return run_transposed(backends, launch, products, algorithm.tile);
      algorithm.tile = tiling_of(products.each), by_tile = true;
    }
  }
  const auto on_this_thread = [&](const ProductOf<T>& tile) {
    return (by_tile ? choose_row_for_tile(backends, available, tile) : *algorithm.row).multiply(backends, tile);
  };
  return TiledProducts(products, algorithm.tile, on_this_thread).run(launch);
}
template Status* run_products(const Backends&, const Available&, const Launch*, BatchedProduct<float>,
                              const Algorithm*);
template Status* run_products(const Backends&, const Available&, const Launch*, BatchedProduct<Bf16>,
                              const AlgorithmOf<Bf16>*);
template Status* run_products(const Backends&, const Available&, const Launch*, BatchedProduct<f16>,
                              const AlgorithmOf<f16>*);

}  // namespace thunder
