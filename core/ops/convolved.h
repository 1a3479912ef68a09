// The dtype in which convolutions compute.
#pragma once

#include "ops/formulas.h"

namespace thunder {

// On the CPU halves are widened, so that a bias joins before the sum is rounded. Devices' libraries take halves as they
// are and sum in f32; the bias is then added to the rounded sum, as in PyTorch.
inline Var convolved(Var x) { return x.type().device == Device::cpu ? computed(x) : x; }

}  // namespace thunder
