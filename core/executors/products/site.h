// The state of one product in a program.
#pragma once

#include <optional>

#include "executors/cpu/site.h"
#include "executors/products/algorithms.h"
#include "executors/products/f16.h"

namespace thunder {

// Operands' strides come with each call. `available`: the rows of the table that fit the node.
template <class T>
struct ProductSite : Site {
  using Products = BatchedProduct<T> (*)(const Launch*);
  ProductSite(const Backends& m, Available a, Products p) : backends(m), available(std::move(a)), products(p) {}
  const Backends& backends;
  const Available available;
  const Products products;

  Status* run(const Launch* launch) const override {
    return run_products(backends, available, launch, products(launch));
  }
};

struct HalfSite : Site {
  HalfSite(const Backends& m, BatchedProduct<f16> (*p)(const Launch*)) : backends(m), products(p) {}
  const Backends& backends;
  BatchedProduct<f16> (*const products)(const Launch*);

  Status* run(const Launch* launch) const override { return run_products(backends, launch, products(launch)); }
};

struct FloatSite : ProductSite<float> {
  using ProductSite::ProductSite;
  std::optional<Algorithm> algorithm;  // none: the cost model chooses
  Panels panels;  // of a frozen weight; otherwise none

  Status* run(const Launch* launch) const override {
    if (panels) return run_packed(backends, launch, products(launch), panels.get());
    return run_products(backends, available, launch, products(launch), algorithm ? &*algorithm : nullptr);
  }
  // The bytes of scratch for tensors of these layouts.
  size_t scratch_for(std::span<const Buffer> inputs, std::span<const Buffer> outputs) const {
    Launch launch;
    launch.inputs = inputs.data(), launch.n_inputs = inputs.size();
    launch.outputs = outputs.data(), launch.n_outputs = outputs.size();
    BatchedProduct<float> p = products(&launch);
    p.simplify();
    return p.each.m == 0 || p.each.n == 0
               ? 0
               : scratch_of(backends, p.each, algorithm ? *algorithm : algorithm_of(backends, available, p));
  }
  // Prepacks the weight if that pays; returns the bytes kept. Throws if memory runs out.
  size_t pack(const Launch* launch) {
    const Product p = products(launch).each;
    if (!p.b.data || launch->inputs[1].rank != 2 || !pays_to_pack(backends, products(launch))) return 0;
    const int64_t width = backends.kernels.panel_columns;
    const size_t bytes = static_cast<size_t>((p.n + width - 1) / width * width * p.k) * sizeof(float);
    if (!panels) panels = make_panels(bytes);
    backends.kernels.pack(p.b, p.k, p.n, panels.get());
    return bytes;
  }
};

}  // namespace thunder
