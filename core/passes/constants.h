// Finds and records constants, which are values filled with one number.
//
// In a trace a constant is a prims.full, maybe with views of it. Only the number is stored, so that folding constants
// takes no memory for tensors.
#pragma once

#include "passes/rewrite.h"

namespace thunder {

// The number that fills the value, as its dtype stores it: a float, or of other types an integer. Empty: it is not
// filled with one known number.
std::optional<Arg> constant_value(const Rewriter& rewriter, ValueId v);

// The same, of a value whose lines are given: by value the line that makes it, or null.
std::optional<Arg> constant_value(std::span<const Node* const> producers, ValueId v);

// The same of what prims.full of the plain number `value` stores. Empty: the dtype cannot represent it, or an i64 what
// is stored.
std::optional<Arg> stored_value(const Arg& value, DType dtype);

// Records prims.full and, if the type has dims, prims.expand. Requires: stored_value gave the value.
ValueId make_constant(Rewriter& rewriter, const Arg& value, const TensorType& type, const Node& in_place_of);

}  // namespace thunder
