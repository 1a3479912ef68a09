// The handle of a context.
#pragma once

#include "capi/boundary.h"
#include "capi/handle.h"
#include "jit/context/context.h"

namespace thunder::capi {

THUNDER_COUNTED_HANDLE(context, Context)

// A device from the C API's number; 0 is the CPU. Throws for a device that does not exist.
Device device_of(Context& context, thunder_device device);

}  // namespace thunder::capi
