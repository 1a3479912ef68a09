// Wraps a function: gives it the name from the option `name`, and reports what the option `sharp_edges` asks for.
#pragma once

#include "jit/context/context.h"
#include "tracer/compile_settings.h"

namespace thunder {

// The function itself where neither is asked for. Throws where a program of a file is to have another name.
Ref<Function> wrap_with_settings(Ref<Function> function, Ref<Context> context, const CompileSettings& settings);

}  // namespace thunder
