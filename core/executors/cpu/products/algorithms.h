// The algorithms for matrix products: a table for each element type, of which the first row that is supported and
// profitable is taken. That depends on the machine and the shape alone, so results are the same bits on any number of
// threads.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executors/cpu/products/batched_product.h"
#include "executors/cpu/products/backends.h"
#include "ir/elements.h"
#include "tracer/compile_settings.h"

namespace thunder {

template <class T>
struct AlgorithmRow {
  std::string_view name;
  // Whether the machine has the instructions or library required, and f32 may be rounded as it does.
  bool (*needs)(const Backends&, Precision);
  bool (*fits)(const GemmSize&);  // the sizes that it is meant for
  bool (*can)(const BatchedProduct<T>&);  // the layouts that it takes, after simplify
  bool (*is_profitable)(const Backends&, const ProductOf<T>&);  // the cost model, for one tile: no later row is faster
  Tiling (*tiling)(const ProductOf<T>&);  // for threads
  bool (*multiply)(const Backends&, const ProductOf<T>&);  // one tile, on this thread. False: out of memory
  bool by_tile;  // smaller tiles at the edges may be computed by another such row each
};
// The table of an element type: float, Bf16 or f16.
template <class T>
std::span<const AlgorithmRow<T>> algorithms();
template <>
std::span<const AlgorithmRow<float>> algorithms<float>();
template <>
std::span<const AlgorithmRow<Bf16>> algorithms<Bf16>();
template <>
std::span<const AlgorithmRow<f16>> algorithms<f16>();

using Available = std::vector<bool>;  // by row of a table: whether it is available for a node
template <class T>
Available rows_for(std::span<const AlgorithmRow<T>> rows, const Backends& backends, Precision precision,
                   const GemmSize& size) {
  Available available;
  for (const AlgorithmRow<T>& row : rows) available.push_back(row.needs(backends, precision) && row.fits(size));
  return available;
}

// A row of the table of algorithms, with tile sizes.
template <class T>
struct AlgorithmOf {
  const AlgorithmRow<T>* row;
  Tiling tile;
  friend bool operator==(const AlgorithmOf&, const AlgorithmOf&) = default;
};
using Algorithm = AlgorithmOf<float>;
std::string name(const Algorithm& algorithm);  // "onednn 256x512"

// The cost model's choice. Requires: the products are simplified; neither m nor n is 0.
template <class T>
AlgorithmOf<T> choose_algorithm(const Backends& backends, const Available& available,
                                const BatchedProduct<T>& products);
// All candidates for autotuning, the cost model's choice first. Requires: the same.
std::vector<Algorithm> candidate_algorithms(const Backends& backends, const Available& available,
                                            const BatchedProduct<float>& products);

// The bytes of a launch's scratch that an algorithm needs.
size_t scratch_bytes_of(const Backends& backends, const Product& p, const Algorithm& algorithm);

// May rearrange the products. `chosen`: one of candidate_algorithms(), after `simplify`; null: choose_algorithm(). If
// the launch lacks the scratch that it needs, or operands have other layouts than it takes, another algorithm is used.
// T: float, Bf16 or f16. Null, or an owned status.
template <class T>
Status* run_products(const Backends& backends, const Available& available, const Launch* launch,
                     BatchedProduct<T> products, const AlgorithmOf<T>* chosen = nullptr);

// Memory for packed panels.
struct FreePanels {
  void operator()(float* panels) const { std::free(panels); }
};
using Panels = std::unique_ptr<float, FreePanels>;
// Throws if memory runs out.
Panels allocate_panels(size_t bytes);

// Whether prepacking b is profitable. Requires: b is the same in all batches.
bool prepacking_is_profitable(const Backends& backends, BatchedProduct<float> products);
// Computes products whose b was prepacked (`ProductKernels::pack`).
Status* run_prepacked(const Backends& backends, const Launch* launch, BatchedProduct<float> products,
                      const float* panels);

// Large products with our own kernels: a block of a stays in the L2 cache, a panel of b in the L1.
void multiply_blocked(const ProductKernels& kernels, const Product& p);

}  // namespace thunder
