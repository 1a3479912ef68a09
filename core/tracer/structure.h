// The structure text of values, read from outside: is it one that values would have, and of how many leaves?
#pragma once

#include <optional>
#include <string_view>

namespace thunder {

// Groups that lie inside one another; whoever walks a structure may recurse so deep.
constexpr size_t kDeepestStructure = 200;

// The leaves of "[*,{"mask":*,"x":*}]"; nothing when it is malformed, its map keys are not in byte order or given
// twice, or it is deeper than kDeepestStructure.
std::optional<size_t> structure_leaves(std::string_view text);

}  // namespace thunder
