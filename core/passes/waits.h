// Collectives as two lines: one starts them, the other waits.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Behind each collective that the executor of collectives claimed, the line that waits for it and has its result,
// unless there is one.
std::optional<Trace> waits(const Trace& claimed, PassContext& context);

// Moves starts up to where their operands are ready, with what makes these of results of others, and waits down to
// where results are read first, or the first is stored, or too much memory would wait. The host waits at the last one.
std::optional<Trace> overlap(const Trace& trace, PassContext& context);

}  // namespace thunder
