// Which lines of a trace are alike: one op with the same arguments, on values of the same types in the same
// arrangement, for all values of the trace's symbols. Those of equal layers are.
#pragma once

#include <vector>

#include "ir/trace.h"

namespace thunder {

// By line: the first one that is like it, maybe itself.
std::vector<uint32_t> first_alike(const Trace& trace);

}  // namespace thunder
