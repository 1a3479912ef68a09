// The ways to compute a product of matrices: a table for each element type, of which the first row that can and pays is taken. That
// depends on what the machine has and on the shape alone, so that results are the same bits on any number of threads.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executors/cpu/products.h"
#include "executors/products/backends.h"

namespace thunder {

// The sizes of a line's product, its batches apart. Rows of a linear are those of all but the last dim.
struct Sides {
  int64_t rows = 0, columns = 0, depth = 0;  // 0: b is no matrix
};

template <class T>
struct AlgorithmRow {
  std::string_view name;
  bool (*needs)(const Backends&);                          // what the machine, or a library, must have
  bool (*fits)(const Sides&);                           // the sizes that it is meant for
  bool (*can)(const BatchedProduct<T>&);                // the layouts that it takes; they are simplified
  bool (*pays)(const Backends&, const ProductOf<T>&);      // the cost model, of a tile: no later row is faster
  Tiling (*tiling)(const ProductOf<T>&);                // for threads
  bool (*multiply)(const Backends&, const ProductOf<T>&);  // one tile, on this thread. False: out of memory
  bool by_tile;  // tiles at the edges, which are smaller, may each be computed by another such row
};
std::span<const AlgorithmRow<float>> algorithms_of_f32();
std::span<const AlgorithmRow<Bf16>> algorithms_of_bf16();

// Those of the rows that are there for a line: by row.
template <class T>
std::vector<bool> rows_for(std::span<const AlgorithmRow<T>> rows, const Backends& backends, const Sides& sides) {
  std::vector<bool> available;
  for (const AlgorithmRow<T>& row : rows) available.push_back(row.needs(backends) && row.fits(sides));
  return available;
}

// A row, and the tiles that it computes.
template <class T>
struct AlgorithmOf {
  const AlgorithmRow<T>* row;
  Tiling tile;
  friend bool operator==(const AlgorithmOf&, const AlgorithmOf&) = default;
};
using Algorithm = AlgorithmOf<float>;
std::string name(const Algorithm& algorithm);  // "onednn 256x512"

// By the cost model. Requires: they are simplified; neither m nor n is 0.
Algorithm algorithm_of(const Backends& backends, const std::vector<bool>& available, const BatchedProduct<float>& products);
AlgorithmOf<Bf16> algorithm_of(const Backends& backends, const std::vector<bool>& available, const BatchedProduct<Bf16>& products);
// All that are worth a try, that one first. Requires: the same.
std::vector<Algorithm> algorithms_of(const Backends& backends, const std::vector<bool>& available, const BatchedProduct<float>& products);

// Bytes of a launch's scratch that a way needs.
size_t scratch_of(const Backends& backends, const Product& p, const Algorithm& algorithm);

// May rearrange the products. `chosen`: one of algorithms_of(), after `simplify`; null: algorithm_of(). What needs scratch that the launch has not, or
// operands that lie otherwise, is done in another algorithm. Null, or an owned status.
Status* run_products(const Backends& backends, const std::vector<bool>& available, const Launch* launch, BatchedProduct<float> products, const Algorithm* chosen = nullptr);
Status* run_products(const Backends& backends, const std::vector<bool>& available, const Launch* launch, BatchedProduct<Bf16> products);

// Memory for panels.
struct FreePanels {
  void operator()(float* panels) const { std::free(panels); }
};
using Panels = std::unique_ptr<float, FreePanels>;
// Throws without memory.
Panels make_panels(size_t bytes);

// Whether packing b before pays here. Requires: b is the same in all batches.
bool pays_to_pack(const Backends& backends, BatchedProduct<float> products);
// Of products whose b was packed (`ProductKernels::pack`).
Status* run_packed(const Backends& backends, const Launch* launch, BatchedProduct<float> products, const float* panels);

// Large products with our own kernels: a block of a stays in the second-level cache, a panel of b in the first one.
void multiply_blocked(const ProductKernels& kernels, const Product& p);

}  // namespace thunder
