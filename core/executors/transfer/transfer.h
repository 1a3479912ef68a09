// What crosses from one device's memory to another's.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes prims.to_device, and prims.reshape on a device where it is no view. The devices must live as long, of both.
ExecutorDesc transfer_executor(Devices& devices);

// Takes every prim on a device other than the CPU: operands travel to the host, the reference kernel runs there,
// results travel back. Right on every input, and as slow as that sounds.
ExecutorDesc through_host_executor(Devices& devices);

}  // namespace thunder
