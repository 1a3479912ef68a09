// The kernels that callers' ops have for devices other than the CPU.
#pragma once

#include <array>

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

// They claim lines whose ops have a kernel for the device that their tensors are on: what an executor's flags say holds
// for all that it takes, so there is one for kernels that want dense inputs, one for those that take strided ones, and
// the same again for kernels that are functions of the caller's.
std::array<ExecutorDesc, 4> kernels_executors(Devices& devices);

}  // namespace thunder
