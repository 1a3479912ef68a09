// What makes a tensor out of a caller's description, with every claim checked.
#pragma once

#include "capi/context.h"

namespace thunder::capi {

// Throws for an unknown dtype or device, a negative size, or a rank above the limit.
TensorType type_of(thunder_dtype dtype, size_t rank, const int64_t* sizes, thunder_device device);
// Dense row-major ones when `strides` is null. Throws when the number of elements overflows.
Sizes strides_of(const TensorType& type, const int64_t* strides);
void check_aligned(const void* data, DType dtype);
// Throw unless there is memory that the host can reach, or may change.
void need_data(const Tensor& t);
void need_writable(const Tensor& t);

}  // namespace thunder::capi
