// What a product keeps for each call site.
#pragma once

#include <optional>

#include "executors/cpu/site.h"
#include "executors/onednn/gemm.h"

namespace thunder {

struct ProductSite : Site {
  using Products = BatchedProduct<float> (*)(const Launch*);  // operands' strides come with each call
  ProductSite(const Library& l, Products p) : library(l), products(p) {}
  const Library& library;
  const Products products;
  std::optional<Way> way;  // none: the cost model's

  Status* run(const Launch* launch) const override { return run_products(library, launch, products(launch), way ? &*way : nullptr); }
};

}  // namespace thunder
