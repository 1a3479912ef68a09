// A module's tensors as maps of path to handle, always the same handles.
#pragma once

#include "modules/module.h"
#include "tensor/safetensors.h"

namespace thunder {

// What is saved: parameters and buffers under every path, in PyTorch's order: of each module its parameters and its
// buffers, as they were added, then what is below it.
std::vector<NamedTensor> state_of(Module& module);

// Fills `out`. Each tensor is there once, under its first path, so that a tied parameter has one gradient.
void list_parameters(Module& module, Values& out);
// The same of the buffers, saved or not, as a list of [path, tensor] in order.
void list_buffers(Module& module, Values& out);
// state_of() as a map.
void list_state(Module& module, Values& out);
// The paths of state_of() in order, where a map has its keys in the order of their bytes: one list.
void list_paths(Module& module, Values& out);

}  // namespace thunder
