// The indices of elements that are not zero: masks as indices.
#pragma once

#include "ops/builder.h"

namespace thunder {

// How many of a tensor of booleans hold. Reads them: for eager ops.
int64_t how_many(const Call& c, Var flags);
// The places of x's elements that are not zero, i64 [how many, rank]. Reads them: for eager ops.
Var nonzero_places(const Call& c, Var x);
// The same of one dim each, i64 [how many].
std::vector<Var> places_by_dim(const Call& c, Var x);
// The elements of x where a mask of its shape holds, in row-major order.
Var picked(const Call& c, Var x, Var mask);

}  // namespace thunder
