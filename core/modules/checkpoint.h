// A module's tensors in a file.
#pragma once

#include "modules/module.h"

namespace thunder {

// A safetensors file with parameters and buffers under every path. The old file stays whole on failure.
void save_module(Module& module, const std::string& path);
// Into the same handles; on failure nothing has changed. Names must match when `strict`; types always must, and a
// tensor that has several paths must have one value.
void load_module(Module& module, const std::string& path, bool strict, const Allocator& allocator);

}  // namespace thunder
