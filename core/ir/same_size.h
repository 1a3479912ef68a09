// Whether sizes are equal, where different formulas may give them.
#pragma once

#include <span>

#include "ir/dim.h"

namespace thunder {

// Whether shapes have equally many elements: for all symbols, or if formulas leave that open, for the sizes seen, which
// is then guarded.
bool same_elements(std::span<const Dim> a, std::span<const Dim> b);
bool same_size(Dim a, Dim b);

}  // namespace thunder
