// The permission to use AMX: Linux saves the tile registers of a process only if the process has asked for it.
#pragma once

namespace thunder {

// Asks the system, once, to save them for this process, whose signal frames then take 8 KiB more. False: it refuses.
// Requires: the machine has them. To be called before they are used. Any thread.
bool enable_tile_registers();

}  // namespace thunder
