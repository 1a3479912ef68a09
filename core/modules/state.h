// A module's tensors as maps of path to handle, always the same handles.
#pragma once

#include "modules/module.h"

namespace thunder {

// Fills `out`. Each tensor is there once, under its first path, so that a tied parameter has one gradient.
void list_parameters(Module& module, Values& out);
void list_buffers(Module& module, Values& out);
// Parameters and buffers under every path.
void list_state(Module& module, Values& out);
// The paths of list_state() in the order of addition, where a map has its keys in the order of their bytes: one list.
void list_paths(Module& module, Values& out);

}  // namespace thunder
