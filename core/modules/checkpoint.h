// Saving and loading a module's tensors.
#pragma once

#include "modules/module.h"

namespace thunder {

// Writes a safetensors file with parameters and buffers under every path. The old file stays whole on failure.
void save_module(Module& module, const std::string& path);
// Loads into the existing tensors; on failure nothing has changed. Names must match when `strict`; types always must,
// and a tensor that has several paths must have one value.
void load_module(Module& module, const std::string& path, bool strict, const Allocator& allocator);

}  // namespace thunder
