// What may be done with a tensor that a caller gave.
#pragma once

#include "capi/context.h"

namespace thunder::capi {

// What callers say of a tensor; throws naming what is wrong with it.
TensorType type_of(thunder_dtype dtype, size_t rank, const int64_t* sizes, Device device);
// Throws for a proxy whose function has been traced.
void need_alive(const Tensor& t);
// Throw unless there is memory that the host can reach, or may change. A proxy whose function may break gets it now.
void need_data(const Tensor& t);
void need_writable(const Tensor& t);

}  // namespace thunder::capi
