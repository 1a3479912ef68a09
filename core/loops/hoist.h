// Factors that are the same all along a row leave the sum of what they are factors of.
#pragma once

#include "loops/region.h"

namespace thunder::loops {

// sum(x * r) becomes sum(x) * r where r is known only after a reduction of the row, and sum(x) before: a pass over the row less, as
// in the gradients of norms and of softmax. Only where no number grows or shrinks more than in what is computed anyway.
void hoist_from_reductions(LoweredRegion& region);

}  // namespace thunder::loops
