// NumPy's .npy files, one array each.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace thunder {

// Versions 1.0 to 3.0, row- or column-major, either byte order. The result is row-major on the CPU. Throws
// unimplemented by name for element types that do not exist here.
Ref<Tensor> load_npy(const std::string& path, const Allocator& allocator);

// A column-major tensor is saved as such, any other as row-major. Refuses bf16, which the format cannot name.
void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace thunder
