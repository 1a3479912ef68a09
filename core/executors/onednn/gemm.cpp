#include "executors/onednn/gemm.h"

#include <algorithm>

namespace thunder {
namespace {

// ---- the cost model ----

// Up to here a library call's preparation costs more than its faster kernel saves (multiply-adds); sooner when b's rows
// are not dense, since ours turns them element by element.
constexpr int64_t kSmallWork = 64 * 64 * 64, kSmallTurnedWork = 16 * 32 * 32;
// Up to here reading b once is what counts.
constexpr int64_t kThinRows = 4;
// About a millisecond.
constexpr int64_t kTileWork = 1 << 26;
// A tile of few rows is so much of b.
constexpr int64_t kThinWork = 1 << 20;
constexpr int64_t kColumnsStep = 64;  // whole vectors of any width, and cache lines of c

Tiling tiling_of(const Product& p) {
  if (p.m > kThinRows) return tiling(p.m, p.n, p.k, kTileWork);
  return {p.m, std::max(kColumnsStep, kThinWork / std::max<int64_t>(1, p.k) / kColumnsStep * kColumnsStep)};
}

bool thin(const Product& p) { return p.m <= kThinRows && p.a.column == 1 && (p.b.row == 1 || p.b.column == 1); }

}  // namespace

bool multiply(const Library& library, const Product& p) {
  const Kernels& own = library.kernels();
  if (thin(p)) own.thin(p);
  else if (p.m * p.n * p.k <= (p.b.column == 1 ? kSmallWork : kSmallTurnedWork) || !Library::multiplies(p)) own.small(p);
  else return library.multiply(p);
  return true;
}

Status* run_products(const Library& library, const Launch* launch, BatchedProduct<float> products) {
  products.simplify();
  const Product& p = products.each;
  if (p.m == 0 || p.n == 0) return nullptr;
  const auto on_this_thread = [&library](const Product& tile) { return multiply(library, tile); };
  return TiledProducts(products, tiling_of(p), on_this_thread).run(launch);
}

}  // namespace thunder
