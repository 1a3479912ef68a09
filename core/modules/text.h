// Modules and their options as people read them, spelled as in schemas.
#pragma once

#include "modules/module.h"

namespace thunder {

// A leaf as in Python: True, None, 'none', [1, 2], 0.5.
std::string leaf_text(const Leaf& leaf);
// A float is recognizable: 1.0, 1e-05.
std::string real_text(double value);

// The tree, a module a line: its name, its kind with the options, and what is below it indented. Tensors of modules
// whose kind has none by itself are lines too. A module with children that was shown before is named only.
std::string module_text(Module& root);

}  // namespace thunder
