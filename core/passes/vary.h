// Values that differ among the ranks of an axis, where tensors are divided among these.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Where a trace reads parts of tensors (prims.shard), what is made of them differs from rank to rank, up to the
// collective that makes it one. A real value that is the same on all ranks passes prims.pvary where it meets one that
// differs, once for all that read it: its gradient is the sum over the ranks. Throws where a gradient is taken of what
// differs, and where numbers are drawn for it.
std::optional<Trace> vary(const Trace& trace, PassContext& context);

}  // namespace thunder
