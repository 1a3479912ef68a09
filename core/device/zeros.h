// Zeros of the host that take no memory before they are written, for what may stay unused for long.
#pragma once

#include "device/memory.h"

namespace thunder {

// Zeroed pages from the system. Null: it gives none, or the allocator is a caller's, which must give all memory.
Ref<Storage> zeros_on_demand(const Allocator& allocator, size_t bytes);

}  // namespace thunder
