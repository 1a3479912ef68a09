// The executor of collectives in memory that the ranks' engine reaches: one line starts each, a second one waits for it
// (passes/waits.h). Where the engine does not reach a device, what is there goes through the host.
#pragma once

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder {

ExecutorDesc collectives_executor(Devices& devices);

// Waits for what the kernel of a line that has no other to wait for it, such as an eager call, started with this
// launch: on a device the host stays for it if it is to be `done`. Nothing where the kernel starts nothing. Null, or an
// owned status.
Status* end_started(const Kernel& kernel, const Launch* launch, bool done);

}  // namespace thunder
