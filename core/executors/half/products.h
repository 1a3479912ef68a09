// Products of halves.
#pragma once

#include "executors/cpu/products.h"

namespace thunder {

// One product on this thread, any strides. Each element is summed in f32, in an order that depends on k and on whether there are
// few rows, and rounded once. False: out of memory.
bool multiply_halves(const Kernels& kernels, const ProductOf<Half>& p);

// How it is cut for threads, by its sizes alone. Requires: neither m nor n is 0.
Tiling tiling_of_halves(const ProductOf<Half>& p);

}  // namespace thunder
