#include "executors/amx/amx.h"

#include "executors/amx/products.h"
#include "executors/amx/permission.h"
#include "executors/cpu/site.h"
#include "executors/cpu/tiling.h"
#include "ir/shape.h"

namespace thunder {
namespace {

// From here on (each of rows, columns and depths), cutting numbers into parts costs less than the registers save.
constexpr int64_t kLeastSide = 32;
constexpr int64_t kTileWork = 1 << 27;  // of a thread's tile, in multiply-adds

template <class T, int kParts>
struct TileSite : Site {
  explicit TileSite(const ProductRow<T>& r) : row(r) {}
  const ProductRow<T>& row;

  Status* run(const Launch* launch) const override {
    BatchedProduct<T> products = row.products(launch);
    products.simplify();
    const ProductOf<T>& p = products.each;
    if (p.m == 0 || p.n == 0) return nullptr;
    const auto multiply = [](const ProductOf<T>& tile) { return TileProduct<T, kParts>::multiply(tile, avx512_kernels()); };
    return TiledProducts(products, tiling(p.m, p.n, p.k, kTileWork), multiply).run(launch);
  }
};

template <class T, int kParts>
Status* prepare(const NodeView& view, void** state, size_t* scratch, void*) {
  *scratch = 0;
  if (!enable_tile_registers()) return make<Status>(Code::declined, "the system keeps the tile registers").detach();
  *state = static_cast<Site*>(new TileSite<T, kParts>(row_of(kProductRows<T>, view)));
  return nullptr;
}

// Rows of a linear are those of all but the last dim. Nothing where b is no matrix.
struct Sides {
  int64_t rows = 0, columns = 0, depth = 0;
};
Sides sides(const NodeView& view) {
  const Sizes a = concrete(view.store.type(view.node.args[0].v).shape), b = concrete(view.store.type(view.node.args[1].v).shape);
  if (a.empty() || b.size() < 2) return {};
  const bool linear = view.node.op->name() == "linear";
  int64_t rows = 1;
  for (size_t i = linear || a.size() < 2 ? 0 : a.size() - 2; i + 1 < a.size(); i++) rows *= a[i];
  return {rows, linear ? b[0] : b.back(), a.back()};
}

bool claim_large_f32(const NodeView& view, void* user) {
  if (!all_tensors_are<DType::f32>(view, user)) return false;
  const Sides s = sides(view);
  return s.rows >= kLeastSide && s.columns >= kLeastSide && s.depth >= kLeastSide;
}

// One row or two are as fast as b is read; for tiles it is packed first.
bool claim_halves(const NodeView& view, void* user) {
  constexpr int64_t kFewRows = 2;
  return all_tensors_are<DType::bf16>(view, user) && sides(view).rows > kFewRows;
}

template <class T, int kParts>
std::optional<ExecutorDesc> executor(const Machine& machine, const char* name, bool (*claim)(const NodeView&, void*)) {
  if (!machine.tile_registers) return std::nullopt;
  ExecutorDesc d = site_executor(name, kProductRows<T>, claim, prepare<T, kParts>);
  d.flags |= kLeads;
  return d;
}

}  // namespace

std::optional<ExecutorDesc> amx_executor(const Machine& m) { return executor<Half, 1>(m, "amx", claim_halves); }
std::optional<ExecutorDesc> amx_high_executor(const Machine& m) { return executor<float, 2>(m, "amx_high", claim_large_f32); }
std::optional<ExecutorDesc> amx_medium_executor(const Machine& m) { return executor<float, 1>(m, "amx_medium", claim_large_f32); }

}  // namespace thunder
