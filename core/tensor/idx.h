// IDX files, the form in which MNIST is published; packed by gzip or not.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace thunder {

// Unsigned bytes stay u8; signed bytes and shorts become i32; int, float and double become i32, f32, f64.
Ref<Tensor> load_idx(const std::string& path, const Allocator& allocator);

}  // namespace thunder
