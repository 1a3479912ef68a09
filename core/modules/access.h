// Reading and calling modules inside scopes. A program that is traced depends on what it reads, not on more: every
// read is a fact, kept under the generation of the module that the user called or read from.
#pragma once

#include <unordered_map>

#include "modules/module.h"

namespace thunder {

// While a scope traces a module's forward: where everything below that module lies, so that reads by inner forwards
// are guarded at the top.
struct ModuleAccess {
  Ref<Module> root;
  std::unordered_map<const Module*, std::string> paths;
  const ModuleAccess* outer = nullptr;
};

// The module's tensor at `path`, "fc1.weight"; a failed tensor when there is none.
Tensor* module_tensor(Scope& scope, Module& module, std::string_view path);
// The same, or null if there is none.
Tensor* optional_module_tensor(Scope& scope, Module& module, std::string_view path);
bool module_training(Scope& scope, Module& module);
// The module's own forward or its kind's. The scope owns the result. `where`: the line that calls it, or null.
Values* module_call(Scope& scope, Module& module, const Values& in, const char* where = nullptr);
// The module as a function, to compile or to take the gradient of: it shares the module's tensors and follows changes.
Ref<Function> module_function(Ref<Module> module);

}  // namespace thunder
