// Everything about a function's latest program on one page.
#pragma once

#include <string>

#include "jit/call.h"

namespace thunder {

// HTML with all that it needs in it: traces, the graph, memory over time, the last profile and examination, guards and
// compiles. Throws where there is no program yet.
std::string html_report(const Compiled& f);

}  // namespace thunder
