// The CUDA C++ of a caller's kernel as it is compiled for a line.
#pragma once

#include <string>

#include "executors/executor.h"

namespace thunder::kernels {

// The source, behind the types that it names: NAME_t of the elements of a tensor NAME, and `bfloat16`. The compiler's
// messages call it FUNCTION.cu, and count its own lines.
std::string cuda_text(const std::string& source, const std::string& function, const NodeView& view);

}  // namespace thunder::kernels
