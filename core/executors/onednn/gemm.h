// Products of f32 matrices, given to the kernel that is fastest.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "executors/cpu/products.h"
#include "executors/onednn/library.h"

namespace thunder {

// How a product may be computed. Each gives the same bits on any number of threads; two of them differ in rounding.
struct Way {
  enum class Kernel : uint8_t { small, thin, turned, library };
  Kernel kernel;
  Tiling tile;
  friend bool operator==(const Way&, const Way&) = default;
};
std::string name(const Way& way);  // "library 256x512"

// By the cost model, which depends on the shape alone. Requires: they are simplified; neither m nor n is 0.
Way way_of(const BatchedProduct<float>& products);
// All that are worth a try, that one first. Requires: the same.
std::vector<Way> ways_of(const BatchedProduct<float>& products);
// Bytes of a launch's scratch that a way needs.
size_t scratch_of(const Library& library, const Product& p, const Way& way);

// May rearrange the products. `chosen`: one of ways_of(), after `simplify`; null: way_of(). What needs
// scratch that the launch has not, or operands that lie otherwise, is done in another way. Null, or an owned status.
Status* run_products(const Library& library, const Launch* launch, BatchedProduct<float> products, const Way* chosen = nullptr);

// Memory for panels.
struct FreePanels {
  void operator()(float* panels) const { std::free(panels); }
};
using Panels = std::unique_ptr<float, FreePanels>;
// Throws without memory.
Panels make_panels(size_t bytes);

// Whether packing b before pays here. Requires: b is the same in all batches.
bool pays_to_pack(const Library& library, BatchedProduct<float> products);
// Of products whose b was packed (`Kernels::pack`).
Status* run_packed(const Library& library, const Launch* launch, BatchedProduct<float> products, const float* panels);

// One product on this thread. False: out of memory.
bool multiply(const Library& library, const Product& p);

}  // namespace thunder
