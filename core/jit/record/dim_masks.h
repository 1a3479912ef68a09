// Finds which sizes and integers of a call's inputs may be symbols, and which of them are equal.
#pragma once

#include "cache/entry.h"

namespace thunder {

// The sizes of the inputs that are symbols, by leaf and dim; equal sizes share a symbol. An integer has one place, for
// itself.
using DimMask = std::vector<std::vector<bool>>;

// One flag for each leaf and dim; an integer leaf counts as having one dim.
DimMask make_empty_mask(const Values& in);
DimMask make_full_mask(const Values& in);
// The sizes and integers in which these inputs differ from those of a program. Empty when they differ in anything else.
DimMask varying_dims(const Entry& entry, const Values& in);
// Whether a size may become symbolic: sizes 0 and 1 may not, any integer may.
bool may_vary(const Leaf& l, size_t dim);
bool any_dim(const DimMask& mask);
// Adds the dims of the other mask.
void add(DimMask& mask, const DimMask& more);

// One size, for all dims that have it; each integer counts by itself.
struct OneSize {
  bool integer;
  int64_t size;  // of an integer: its leaf
  auto operator<=>(const OneSize&) const = default;
};
OneSize identify_size(const Values& in, size_t leaf, size_t dim);
// The dims of a mask that have this size.
DimMask dims_of_size(const Values& in, DimMask mask, OneSize size);

// Groups of equal sizes in a mask: by leaf and dim the number of the group, from 1; 0: not in the mask.
using SharedSizes = std::vector<std::vector<uint32_t>>;
SharedSizes shared_sizes(const Values& in, const DimMask& mask);

}  // namespace thunder
