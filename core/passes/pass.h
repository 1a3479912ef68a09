// A pass: a trace in, a new trace out, or nothing when there was nothing to do.
#pragma once

#include <optional>

#include "device/memory.h"
#include "ops/registry.h"

namespace thunder {

struct PassContext {
  const Registry& registry;
  Allocator allocator;
};

using PassFn = std::optional<Trace> (*)(const Trace&, PassContext&);

}  // namespace thunder
