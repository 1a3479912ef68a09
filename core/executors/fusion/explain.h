// Why neighbours were not fused, in words.
#pragma once

#include <string>

#include "ir/trace.h"
#include "loops/target.h"

namespace thunder::fusion {

// A line for each two kernels of a claimed trace of which one reads the other's result: the value, what did not fit, and
// why, by the numbers that the trace prints. "" when there are none.
std::string explain(const Trace& claimed, const loops::Targets& targets);

}  // namespace thunder::fusion
