#include "executors/half/half.h"

#include "executors/cpu/site.h"
#include "executors/half/products.h"

namespace thunder {
namespace {

// Operands' strides come with each call.
struct HalfSite : Site {
  HalfSite(const HalfKernels& k, const ProductRow<Half>& r) : kernels(k), row(r) {}
  const HalfKernels& kernels;
  const ProductRow<Half>& row;

  Status* run(const Launch* launch) const override {
    BatchedProduct<Half> products = row.products(launch);
    products.simplify();
    const ProductOf<Half>& p = products.each;
    if (p.m == 0 || p.n == 0) return nullptr;
    const auto multiply = [this](const ProductOf<Half>& tile) { return multiply_halves(kernels, tile); };
    return TiledProducts(products, tiling_of_halves(p), multiply).run(launch);
  }
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  *scratch = 0;
  *state = static_cast<Site*>(new HalfSite(*static_cast<const HalfKernels*>(user), row_of(kProductRows<Half>, view)));
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> half_executor(const Machine& machine) {
  const Kernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const auto used = std::make_shared<const HalfKernels>(HalfKernels{*kernels, machine.bf16_dot_products ? multiply_pairs() : nullptr});
  ExecutorDesc d = site_executor("half", kProductRows<Half>, all_tensors_are<DType::bf16>, prepare, used.get());
  d.owner = used;
  return d;
}

}  // namespace thunder
