// Values that are known while compiling: those filled with one number.
//
// A constant lives in a trace as prims.full, seen through the views that keep every element. No tensor data is held,
// so that what is folded never takes memory.
#pragma once

#include "passes/rewrite.h"

namespace thunder {

// The number that fills the value, as its dtype stores it; empty when it is not filled with one known number.
std::optional<double> constant_value(const Rewriter& rewriter, ValueId v);

// What prims.full of `value` stores; empty when the dtype does not hold it.
std::optional<double> stored_value(double value, DType dtype);

// Records prims.full and, where the type has dims, prims.expand. Requires: a value that stored_value gave.
ValueId make_constant(Rewriter& rewriter, double value, const TensorType& type, const Node& in_place_of);

}  // namespace thunder
