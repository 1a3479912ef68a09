// The system saves tile registers for a process only once it was asked to.
#pragma once

namespace thunder {

// Asks the system, once, to save them for this process, whose signal frames then take 8 KiB more. False: it does not.
// Requires: the machine has them. To be called before they are used. Any thread.
bool enable_tile_registers();

}  // namespace thunder
