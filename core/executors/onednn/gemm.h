// Products of matrices, batched, cut into tiles for the threads of a launch and given to the kernel that is fastest.
#pragma once

#include "executors/onednn/library.h"
#include "program/launch.h"

namespace thunder {

// A product for each index of the batch; strides of the batch in elements, 0 where an operand is shared.
struct BatchedProduct {
  static constexpr size_t kMaxBatch = kMaxRank;
  struct Axis {
    int64_t size, a, b, c;
  };

  Product each;
  const float* bias = nullptr;  // n elements that every row of c begins with, or null
  int64_t bias_step = 1;
  size_t rank = 0;
  Axis batch[kMaxBatch];  // the first `rank` of them

  // Axes along which one b serves rows of a that go on where the last ones ended become rows of one product.
  void merge_rows();
};

// The same bits on any number of threads. May rearrange the products. Null, or an owned status.
Status* run_products(const Library& library, const Launch* launch, BatchedProduct& products);

// One product on this thread. Requires: a Library::OneThread. False: out of memory.
bool multiply(const Library& library, const Product& p);

}  // namespace thunder
