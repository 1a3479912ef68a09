// Statistics of a function's compiles and calls.
#pragma once

#include <string>

#include "jit/call.h"

namespace thunder {

// As JSON: {"calls", "hits", "misses", "entries", "eager_calls", "segments", "graph_breaks", "peak_bytes", "last_miss",
// "reasons": [{"why", "times"}], "edges_ms": [...], "stages": [{"name", "times", "total_ms", "least_ms", "most_ms",
// "histogram": [...]}]}. A histogram has one count more than there are edges: of compiles below the first one, between
// each two, and above the last one.
std::string compile_stats(const Compiled& f);

}  // namespace thunder
