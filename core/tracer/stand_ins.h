// Replacements of a module's tensors, on this thread, while it is called with parameters that are not its own.
#pragma once

#include "tensor/tensor.h"

namespace thunder {

// The tensor that the functions traced here read and write in the place of t. Null: t itself.
Tensor* stand_in(const Tensor& t);
// From now on `other`, before what stood for t until now; null ends the last one.
void set_stand_in(const Tensor& t, Tensor* other);

}  // namespace thunder
