// What the choice of regions depends on beside the structure of lines: the sizes of symbolic lines become conditions.
#pragma once

#include "ir/trace.h"
#include "loops/target.h"

namespace thunder::fusion {

// Decides again for the lines of a claimed trace, so that the caller's DimReads note it: whether operands are large,
// and whether sums go by rows. Sizes for which it comes out the same have the same regions, and sums in one order.
void note_choices(const Trace& claimed, const loops::Targets& targets);

}  // namespace thunder::fusion
