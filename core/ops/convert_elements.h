// Elements of one type as those of another, by strided views.
#pragma once

#include "ir/arg.h"
#include "tensor/buffer.h"

namespace thunder {

// to[i] = from[i]. Reals to integers truncate and saturate in the widest integer, NaN becomes zero; integers wrap
// around; what is not zero is true. Requires: equal shapes, and that the two overlap only where they are the same.
void convert_elements(const Buffer& from, const Buffer& to);

// Every element becomes the plain number, as convert_elements makes one of an f64 or an i64.
void fill_elements(const Buffer& to, const Arg& number);

}  // namespace thunder
