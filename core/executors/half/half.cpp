#include "executors/half/half.h"

#include <array>

#include "executors/cpu/site.h"
#include "executors/half/products.h"

namespace thunder {
namespace {

// Operands' strides come with each call.
struct HalfSite : Site {
  using Products = BatchedProduct<Half> (*)(const Launch*);
  HalfSite(const Kernels& k, Products p) : kernels(k), products_of(p) {}
  const Kernels& kernels;
  const Products products_of;

  Status* run(const Launch* launch) const override {
    BatchedProduct<Half> products = products_of(launch);
    products.simplify();
    const ProductOf<Half>& p = products.each;
    if (p.m == 0 || p.n == 0) return nullptr;
    const auto multiply = [this](const ProductOf<Half>& tile) { return multiply_halves(kernels, tile); };
    return TiledProducts(products, tiling_of_halves(p), multiply).run(launch);
  }
};

struct Row {
  std::string_view op;
  HalfSite::Products products;
};
constexpr std::array kRows = {
    Row{"prims.matmul", matmul_of<Half>},
    Row{"linear", linear_of<Half>},
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  *state = static_cast<Site*>(new HalfSite(*static_cast<const Kernels*>(user), row_of(kRows, view).products));
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> half_executor(Instructions with) {
  const Kernels* kernels = kernels_for(with);
  if (!kernels) return std::nullopt;
  return site_executor("half", kRows, all_tensors_are<DType::bf16>, prepare, kernels);
}

}  // namespace thunder
