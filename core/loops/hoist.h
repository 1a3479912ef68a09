// Hoists factors that are constant along a row out of the row's sum.
#pragma once

#include "loops/region.h"

namespace thunder::loops {

// sum(x * r) becomes sum(x) * r if r is known only after a reduction of the row, and sum(x) before: this saves a pass
// over the row, as in the gradients of norms and of softmax. Only where no intermediate value can overflow or underflow
// sooner than before.
template <class S>
void hoist_from_reductions(LoweredRegionOf<S>& region);

}  // namespace thunder::loops
