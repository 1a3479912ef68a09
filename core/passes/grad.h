// Expands the `grad` lines that gradients asked for inside a traced function have left.
#pragma once

#include <optional>

#include "ops/grad.h"

namespace thunder {

// `rule` (with `rules`) may bring an executor's own gradient for an op; null: the op's.
std::optional<Trace> expand_gradients(const Trace& trace, const Registry& registry, RuleFor rule = nullptr,
                                      const void* rules = nullptr);

}  // namespace thunder
