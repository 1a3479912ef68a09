// Rematerialization where regions are known: lines that each region which reads their results computes for itself.
#pragma once

#include "executors/executor.h"

namespace thunder {

// On devices, whose memory is scarce, for each fusion executor. To be called after form_regions. `states` gets what
// the executor keeps of the new regions. Time is linear in the trace.
//
// A cheap elementwise line that was left between regions becomes part of each, if they alone read it and it reads no
// more bytes than it makes: the conversion of a narrow value that a forward and a backward compute with, say. And a
// region computes a value from others that it reads anyway, rather than read it, if few instructions do (`derivation`);
// if it alone reads the value, from others that are no larger, too.
void rematerialize(Trace& trace, const Executors& executors, const Op& region, RegionStates& states);

}  // namespace thunder
