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
  Panels panels;           // of a weight that is frozen; else none

  Status* run(const Launch* launch) const override {
    if (panels) return run_packed(library, launch, products(launch), panels.get());
    return run_products(library, launch, products(launch), way ? &*way : nullptr);
  }
  // Bytes of scratch for tensors that lie like these.
  size_t scratch_for(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const {
    Launch launch;
    launch.inputs = inputs.data(), launch.n_inputs = inputs.size();
    launch.outputs = outputs.data(), launch.n_outputs = outputs.size();
    BatchedProduct<float> p = products(&launch);
    p.simplify();
    return p.each.m == 0 || p.each.n == 0 ? 0 : scratch_of(library, p.each, way ? *way : way_of(p));
  }
  // Throws without memory.
  size_t pack(const Launch* launch) {
    const Product p = products(launch).each;
    if (!p.b.data || launch->inputs[1].rank != 2 || !pays_to_pack(library, products(launch))) return 0;
    const int64_t width = library.kernels().panel_columns;
    const size_t bytes = static_cast<size_t>((p.n + width - 1) / width * width * p.k) * sizeof(float);
    if (!panels) panels = make_panels(bytes);
    library.kernels().pack(p.b, p.k, p.n, panels.get());
    return bytes;
  }
};

}  // namespace thunder
