// The options that a caller gave as the library's own: names of PyTorch's, modes and backends are resolved.
#pragma once

#include "jit/options/compile_options.h"

namespace thunder {

class Context;

// Inductor's names and the mode are replaced by the options that they stand for, and what the backend asks for is
// added. Names that nobody knows stay, for `check` to judge. Throws at an option of Inductor's that is refused, at
// options that contradict each other, and at an unknown mode or backend.
Ref<CompileOptions> resolve_options(const CompileOptions& given, const Context& context);

}  // namespace thunder
