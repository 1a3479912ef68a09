// The handle of a context.
#pragma once

#include "capi/boundary.h"
#include "capi/handle.h"
#include "jit/context.h"

namespace thunder::capi {

THUNDER_COUNTED_HANDLE(thunder_context, Context)

// The device that a caller means; 0 is the CPU. Throws for one that is not there.
Device device_of(Context& context, thunder_device device);

}  // namespace thunder::capi
