// The messages of the named logs about a program that was just made.
#pragma once

#include <string>
#include <string_view>

#include "jit/context.h"

namespace thunder {

struct Entry;

// `again`: the function was compiled before, and no program of it fitted, because of `why`.
void log_compiled(const Context& context, const Entry& entry, std::string_view why, bool again);

// What they would say of it at this level: of all that is known from the program alone.
std::string log_text(const Context& context, const Entry& entry, LogLevel level);

}  // namespace thunder
