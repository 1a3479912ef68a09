// prims.matmul and linear. Their operands' strides come with each call.
#include "executors/onednn/gemm.h"
#include "executors/onednn/site.h"

namespace thunder {
namespace {

template <BatchedProduct<float> (*kProducts)(const Launch*)>
struct Products : Site {
  explicit Products(const Library& l) : library(l) {}
  const Library& library;

  Status* run(const Launch* launch) const override { return run_products(library, launch, kProducts(launch)); }
};

}  // namespace

std::unique_ptr<Site> matmul_site(const Library& library, const NodeView&, size_t*) { return std::make_unique<Products<matmul_of<float>>>(library); }
std::unique_ptr<Site> linear_site(const Library& library, const NodeView&, size_t*) { return std::make_unique<Products<linear_of<float>>>(library); }

}  // namespace thunder
