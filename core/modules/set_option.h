// Options of layers that are there: what a schedule of dropout, or of BatchNorm's momentum, writes.
#pragma once

#include "modules/kind.h"

namespace thunder {

// Gives the option another value, which the next call has. Throws not_found for a name that the kind has not, what
// making such a layer throws, and, where the option decides which tensors or layers it is made of, what to write.
void set_option(const ModuleEnvironment& environment, Module& module, std::string_view name, const Any& value);

// Whether both are the same value. No option is a tensor.
bool same_option(const Leaf& a, const Leaf& b);

}  // namespace thunder
