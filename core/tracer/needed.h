// The values that a value depends on, as far as gradients are concerned.
#pragma once

#include <span>

#include "ir/value_set.h"
#include "tracer/scope.h"

namespace thunder {

// Adds the value, and all that these lines compute it from: what stops gradients is the end of a way.
void add_needed(std::span<const Node* const> lines, ValueId value, ValueSet& into);

// For each of these concrete tensors whether the loss depends on it, as far as the scope recorded.
std::vector<bool> reached(Scope& scope, Tensor* loss, std::span<Tensor* const> tensors);

}  // namespace thunder
