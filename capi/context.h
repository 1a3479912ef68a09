// The handle of a context.
#pragma once

#include "capi/boundary.h"
#include "capi/handle.h"
#include "jit/context.h"

namespace thunder::capi {

THUNDER_COUNTED_HANDLE(thunder_context, Context)

// Why a device that a caller names cannot be used; empty: it is there. 0 is the CPU.
std::string absence_of(thunder_device device);
// The device that a caller means. Throws for one that is not there.
Device device_of(thunder_device device);

}  // namespace thunder::capi
