// Products of f32 matrices, given to the kernel that is fastest.
#pragma once

#include "executors/cpu/products.h"
#include "executors/onednn/library.h"

namespace thunder {

// The same bits on any number of threads. May rearrange the products. Null, or an owned status.
Status* run_products(const Library& library, const Launch* launch, BatchedProduct<float> products);

// One product on this thread. False: out of memory.
bool multiply(const Library& library, const Product& p);

}  // namespace thunder
