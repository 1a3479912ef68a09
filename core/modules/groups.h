// Where the state of an optimizer or a schedule keeps the values of its parameter groups.
#pragma once

#include "modules/kind.h"

namespace thunder {

// What users call a value of a group: "param_groups.1.lr".
constexpr std::string_view kParameterGroups = "param_groups.";
// Where it is in the state: those of the first group stand at the top, so that one group needs no other names.
std::string group_path(size_t group, std::string_view name);

// Sets a buffer at a path below `root`, with plain modules on the way.
void set_path(const ModuleEnvironment& environment, Module& root, std::string_view path, Ref<Tensor> tensor);
// The same with a new 0-d f64 tensor.
void set_number(const ModuleEnvironment& environment, Module& root, std::string_view path, double value);

}  // namespace thunder
