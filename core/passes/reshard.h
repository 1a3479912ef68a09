// Parameters of which ranks have shards: where they are gathered.
#pragma once

#include "passes/pass.h"

namespace thunder {

// Gathers of a unit with `reshard` that are read again after as many bytes of other units were gathered are made again
// there, so that what they gave is freed in between: a backward does not keep what its forward gathered. Those of which
// a 16-bit float alone is read, and which is rounded first, are gathered in that dtype.
std::optional<Trace> reshard(const Trace&, PassContext&);

}  // namespace thunder
