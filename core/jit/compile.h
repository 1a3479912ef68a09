// One miss: from a function and the inputs of a call to a cache entry.
#pragma once

#include "jit/call.h"

namespace thunder {

// How much compiling is worth: a program that is kept, or one that runs once and asks no executor that fuses.
enum class Effort : uint8_t { full, least };

// Throws what the function, a pass or an executor reports, and when `check` says so; nothing is left behind.
std::unique_ptr<Entry> compile_entry(Context& context, Function& function, const CompileOptions& options, const Values& in, Effort effort,
                                     InterruptCheck& check);

}  // namespace thunder
