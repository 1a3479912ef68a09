#include "modules/groups.h"

#include "base/text.h"

namespace thunder {

std::string group_path(size_t group, std::string_view name) {
  return group == 0 ? std::string(name) : cat(kParameterGroups, group, ".", name);
}

void set_path(const ModuleEnvironment& environment, Module& root, std::string_view path, Ref<Tensor> tensor) {
  Module* at = &root;
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string_view name = path.substr(0, dot);
    Module* next = at->find(name);
    if (!next) {
      Ref<Module> made = make_module(environment, "Module", {});
      next = made.get();
      at->add(name, std::move(made));
    }
    at = next;
    path.remove_prefix(dot + 1);
  }
  at->set_tensor(path, std::move(tensor), Role::buffer);
}

void set_number(const ModuleEnvironment& environment, Module& root, std::string_view path, double value) {
  TensorType type;
  type.dtype = DType::f64;
  auto t = Tensor::empty(environment.scope.allocator, type);
  *reinterpret_cast<double*>(t->data()) = value;
  set_path(environment, root, path, std::move(t));
}

}  // namespace thunder
