// Factors that are the same all along a row leave the sum of what they are factors of.
#pragma once

#include "executors/fusion/lower.h"

namespace thunder::fusion {

// sum(x * r) becomes sum(x) * r where r is known only after a reduction of the row, and sum(x) before: a pass over the row less, as
// in the gradients of norms and of softmax. Only where no number grows or shrinks more than in what is computed anyway.
// `reduced`: the axes that the reductions reduce, before the nest is scheduled.
void take_factors_out_of_sums(Lowered& lowered, AxisSet reduced);

}  // namespace thunder::fusion
