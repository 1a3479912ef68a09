// Loop fission: the two passes of a nest as nests of their own.
#pragma once

#include <optional>
#include <vector>

#include "loops/region.h"

namespace thunder::loops {

struct Fission {
  LoweredRegion sums, rest;  // run in this order; their arguments are the region's and then `kept`
  struct Kept {
    DType dtype;
    int64_t elements;
  };
  std::vector<Kept> kept;  // dense results of rows that `sums` stores and `rest` loads
};

// What all rows give, and then what depends on that at each position: rows that lie beside each other in memory are too
// few to keep a device busy, unless parts of each are summed by many blocks, which only one pass allows. None where
// rows are many, lie otherwise or are short, or where there are other passes than these two.
std::optional<Fission> split_passes(const LoweredRegion& region);

}  // namespace thunder::loops
