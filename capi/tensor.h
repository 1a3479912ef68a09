// Checks of tensors that a caller gives.
#pragma once

#include "capi/context.h"

namespace thunder::capi {

// Reads a caller's description of a tensor; throws an error that names the wrong member.
TensorType type_of(thunder_dtype dtype, size_t rank, const int64_t* sizes, Device device);
// Throws for a proxy whose function has been traced.
void need_alive(const Tensor& t);
// Throw unless the host can read, or write, the memory. A proxy in a function that may break gets it now.
void need_data(const Tensor& t);
void need_writable(const Tensor& t);

}  // namespace thunder::capi
