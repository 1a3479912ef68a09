// The messages of the named logs about a program that was just made.
#pragma once

#include <string>
#include <string_view>

#include "jit/context/context.h"

namespace thunder {

struct Entry;

// `again`: the function was compiled before, and no program fitted because of `why`.
void log_compiled(const Context& context, const Entry& entry, std::string_view why, bool again);

// The messages that the logs would have at this level, as far as they follow from the program alone.
std::string log_text(const Context& context, const Entry& entry, LogLevel level);

}  // namespace thunder
