// Shapes, and helpers shared by all meta functions.
#pragma once

#include <span>
#include <string>

#include "base/small_vector.h"
#include "ir/dim.h"

namespace thunder {

// Greater ranks are refused at the C API, so that the code behind it needs no other bound.
constexpr size_t kMaxRank = 32;

using Shape = SmallVector<Dim, 6>;
using Sizes = SmallVector<int64_t, 6>;  // concrete sizes and strides

Dim elements(std::span<const Dim> shape);  // 1 for rank 0; throws on overflow
void append(std::string& out, std::span<const Dim> shape);  // "[4, 8]"
inline Lazy<std::span<const Dim>> name(std::span<const Dim> shape) { return Lazy(shape); }

// The axis counted from the front. Requires-by-throw: -rank <= axis < rank (rank 0 counts as 1, as in PyTorch).
size_t normalize_axis(int64_t axis, size_t rank);

// NumPy's broadcasting of two shapes.
Shape broadcast(std::span<const Dim> a, std::span<const Dim> b);

Sizes concrete(std::span<const Dim> shape);  // as Dim::value() gives them

}  // namespace thunder
