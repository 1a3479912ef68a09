// Leaves as callers give them: checked before what they point to is followed.
#pragma once

#include "capi/boundary.h"
#include "capi/handle.h"
#include "device/devices.h"

namespace thunder::capi {

// Refuses arguments of `what` that point to nothing, and kinds that do not exist. Nothing else may look at them before.
void check_args(std::string_view what, Devices* devices, const Any* args, size_t n);

// "a list of floats", for messages.
std::string_view kind_name(ArgKind kind);
// What is wrong with a leaf: an unknown kind, or a pointer to nothing. Null: it may be followed.
const char* fault_of(const Any& leaf);

}  // namespace thunder::capi
