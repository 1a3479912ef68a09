// What the named logs say of a program that was just made.
#pragma once

#include <string_view>

#include "jit/context.h"

namespace thunder {

struct Entry;

// `again`: the function was compiled before, and no program of it fitted, because of `why`.
void log_compiled(const Context& context, const Entry& entry, std::string_view why, bool again);

}  // namespace thunder
