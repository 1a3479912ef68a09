// OpenXLA as an executor: it claims regions of what StableHLO has ops for, and runs each as a program of a PJRT plugin.
#pragma once

#include <string>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// Opens nothing. How many threads a region runs on is the plugin's affair.
ExecutorDesc openxla_executor(const Machine& machine);

// Opens the library, `file` if that is not "". False: it is not here. `found` gets its version and file, or every name
// that was looked for.
bool openxla_opens(std::string_view file, std::string& found);

}  // namespace thunder
