// What may be done with a tensor that a caller gave.
#pragma once

#include "capi/context.h"

namespace thunder::capi {

// Throw unless there is memory that the host can reach, or may change.
void need_data(const Tensor& t);
void need_writable(const Tensor& t);

}  // namespace thunder::capi
