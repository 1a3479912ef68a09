// ONNX Runtime as an executor: it claims regions of what ONNX has ops for, and runs each as a model.
#pragma once

#include <string>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

// The machine must outlive the executor, and says how many threads a region runs on. Opens nothing.
ExecutorDesc onnxrt_executor(const Machine& machine);

// Opens the library, `file` if that is not "". False: it is not here. `found` gets its version and file, or every name
// that was looked for.
bool onnxrt_opens(std::string_view file, std::string& found);

}  // namespace thunder
