// The executors that move tensors between devices.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// Takes prims.to_device, and prims.reshape on other devices than the CPU where it is no view. For both executors the
// devices must live as long.
ExecutorDesc transfer_executor(Devices& devices);

// Takes every prim on a device other than the CPU: copies the operands to the host, runs the reference kernel there,
// and copies the results back.
ExecutorDesc through_host_executor(Devices& devices);

}  // namespace thunder
