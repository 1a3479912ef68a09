// Describes in sentences where two traces of one function, or the results of its two ways to run, differ. "": nowhere.
#pragma once

#include "jit/call.h"

namespace thunder {

// The first op that differs, with the source lines of both, or what else does: results, writes, structure.
std::string graph_difference(const Entry& traced, const Entry& again);
// The captured tensors whose elements differ. Requires: the graphs do not.
std::string constant_difference(const Entry& traced, const Entry& again);
// The results, or inputs that were written, that differ by more than the tolerance, each with its largest error. `what`
// names them.
std::string value_difference(const Values& traced, const Values& function, double tolerance, std::string_view what);
// The lines that draw random numbers; "" without any.
std::string drawing_lines(const Trace& trace);

}  // namespace thunder
