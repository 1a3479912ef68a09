// Names that users of PyTorch type and that are not here, so that an error can say so.
#pragma once

#include <span>
#include <string_view>

namespace thunder {

struct PyTorchName {
  std::string_view name;
  std::string_view instead;  // what to use here; often nothing
};

// Ops, layers, optimisers, schedules, dtypes, members of tensors and modules, arguments; sorted.
std::span<const PyTorchName> pytorch_names();
const PyTorchName* find_pytorch_name(std::string_view name);  // null: PyTorch has no such name either

}  // namespace thunder
