// The CUDA C++ of a caller's kernel as it is compiled for a node.
#pragma once

#include <string>

#include "executors/executor.h"

namespace thunder::kernels {

// The source after declarations of the types that it mentions: NAME_t of the elements of a tensor NAME, and `bfloat16`.
// The compiler's messages call it FUNCTION.cu and number its own lines.
std::string cuda_text(const std::string& source, const std::string& function, const NodeView& view);

}  // namespace thunder::kernels
