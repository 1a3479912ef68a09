// IDX files, the form in which MNIST is published; packed by gzip or not.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace thunder {

// The elements are those of the file: u8, i8, i16, i32, f32 or f64.
Ref<Tensor> load_idx(const std::string& path, const Allocator& allocator);

}  // namespace thunder
