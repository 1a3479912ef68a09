// Whether sizes are equal, where different formulas may give them.
#pragma once

#include <span>

#include "ir/dim.h"

namespace thunder {

// Whether shapes have as many elements: whatever the symbols are, or else, where formulas leave that open, for the
// sizes that were seen, which is noted.
bool same_elements(std::span<const Dim> a, std::span<const Dim> b);
bool same_size(Dim a, Dim b);

}  // namespace thunder
