// Which sizes and integers of a call's inputs may stand for any, and which of them are equal.
#pragma once

#include "cache/cache.h"

namespace thunder {

// Which sizes of the inputs stand for any: by leaf and dim. Sizes that are equal stand for one another. An integer has
// one place, for itself.
using DimMask = std::vector<std::vector<bool>>;

// By leaf and dim; of an integer by leaf alone, as if it had one dim.
DimMask no_dims(const Values& in);
DimMask all_dims(const Values& in);
// The sizes and integers in which these inputs differ from those of a program. Empty when they differ in anything else.
DimMask varying_dims(const Entry& entry, const Values& in);
// A size that may stand for others: 0 and 1 are sizes of their own. Any integer may.
bool may_vary(const Leaf& l, size_t dim);
bool any_dim(const DimMask& mask);
// Marks what either of them marks.
void add(DimMask& mask, const DimMask& more);

// A size, which stands for all dims that have it; each integer counts by itself.
struct OneSize {
  bool integer;
  int64_t size;  // of an integer: its leaf
  auto operator<=>(const OneSize&) const = default;
};
OneSize one_size(const Values& in, size_t leaf, size_t dim);
// The dims of a mask that have this size.
DimMask dims_of_size(const Values& in, DimMask mask, OneSize size);

// Of the sizes that a mask names which are equal: by leaf and dim the number of the first one, from 1; 0: the mask
// does not name it.
using SharedSizes = std::vector<std::vector<uint32_t>>;
SharedSizes shared_sizes(const Values& in, const DimMask& mask);

}  // namespace thunder
