// Zeros of the host that take no memory before they are written, for what may stay unused for long.
#pragma once

#include "device/memory.h"

namespace thunder {

// Pages of the system's own. Null: it gives none, or the allocator is a caller's, who gives all memory.
Ref<Storage> zeros_on_demand(const Allocator& allocator, size_t bytes);

}  // namespace thunder
