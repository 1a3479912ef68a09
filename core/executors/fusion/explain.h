// Says why a kernel was not fused with the kernel whose result it reads.
#pragma once

#include <string>

#include "ir/trace.h"
#include "loops/target.h"

namespace thunder::fusion {

// One line of text for each two kernels of a claimed trace of which one reads the other's result: the value, the node
// that does not fit, and why, with the numbers that the printed trace has. "" if there are none.
std::string explain(const Trace& claimed, const loops::Targets& targets);

}  // namespace thunder::fusion
