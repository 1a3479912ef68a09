// The interface of passes: a pass is a function from a trace to a trace that computes the same results.
#pragma once

#include <optional>

#include "device/memory.h"
#include "ops/registry.h"
#include "tracer/compile_settings.h"

namespace thunder {

struct PassContext {
  const Registry& registry;
  Allocator allocator = default_allocator();
  bool fast_math = false;  // also rewrite where the result may round otherwise or lose a NaN
  const CompileSettings& settings = default_settings();
};

// Empty: nothing changed. The result shares the trace's store. The caller sets its name and time.
using PassFn = std::optional<Trace> (*)(const Trace&, PassContext&);

}  // namespace thunder
