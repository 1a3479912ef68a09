// Expands the `grad` nodes that gradients computed inside a traced function have left in its trace.
#pragma once

#include <optional>

#include "ops/grad.h"

namespace thunder {

// `rule` (with `rules`) may give an executor's own gradient for an op. Null: the op's gradient is used.
std::optional<Trace> expand_gradients(const Trace& trace, const Registry& registry, RuleFor rule = nullptr,
                                      const void* rules = nullptr);

}  // namespace thunder
