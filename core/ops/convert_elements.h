// Elements of one type as those of another, by strided views.
#pragma once

#include "tensor/buffer.h"

namespace thunder {

// to[i] = from[i]. Reals to integers truncate and saturate in the widest integer, NaN becomes zero; integers wrap
// around; what is not zero is true. Requires: equal shapes, and that the two overlap only where they are the same.
void convert_elements(const Buffer& from, const Buffer& to);

// Every element becomes the number, converted as an f64.
void fill_elements(const Buffer& to, double number);

}  // namespace thunder
