// A trace as a graph for Graphviz.
#pragma once

#include <string>

#include "ir/trace.h"

namespace thunder {

// In the language of Graphviz: a box a line, those of one kernel in a frame with its executor; arrows are the values,
// with their types. Inputs and results are boxes of their own.
std::string graphviz(const Trace& trace);

}  // namespace thunder
