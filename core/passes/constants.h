// Finds and records constants, which are values filled with one number.
//
// In a trace a constant is a prims.full, maybe with views of it. Only the number is stored, so that folding constants
// takes no memory for tensors.
#pragma once

#include "passes/rewrite.h"

namespace thunder {

// The number that fills the value, as its dtype stores it. Empty: it is not filled with one known number.
std::optional<double> constant_value(const Rewriter& rewriter, ValueId v);

// The number that prims.full of `value` stores. Empty: the dtype cannot represent it.
std::optional<double> stored_value(double value, DType dtype);

// Records prims.full and, if the type has dims, prims.expand. Requires: stored_value gave the value.
ValueId make_constant(Rewriter& rewriter, double value, const TensorType& type, const Node& in_place_of);

}  // namespace thunder
