// TVM as an executor: it claims regions of what its frontend for ONNX has ops for, and compiles each.
#pragma once

#include <string>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// The machine must outlive the executor. Opens nothing.
ExecutorDesc tvm_executor(const Machine& machine);

// Opens the TVM of a Python, `file` if that is not "". False: it is not here. `found` gets its version and Python, or
// every name that was looked for.
bool tvm_opens(std::string_view file, std::string& found);

}  // namespace thunder
