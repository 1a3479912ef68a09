// Checks a structure text given by a caller, and counts its leaves.
#pragma once

#include <optional>
#include <string_view>

namespace thunder {

// The greatest depth of nested groups, so that code may recurse over a structure.
constexpr size_t kDeepestStructure = 200;

// The leaves of "[*,{"mask":*,"x":*}]"; nothing when it is malformed, its map keys are not in byte order or given
// twice, or it is deeper than kDeepestStructure.
std::optional<size_t> structure_leaves(std::string_view text);

}  // namespace thunder
