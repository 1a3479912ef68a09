#include "modules/state.h"

#include <unordered_set>

namespace thunder {
namespace {

void list_role(Module& module, Role role, Values& out) {
  std::unordered_set<const Tensor*> seen;
  out.reset();
  out.open(true, {});
  for (auto& at : modules_of(module))
    for (auto& t : at.module->tensors()) {
      if (t.role != role || !seen.insert(t.tensor.get()).second) continue;
      out.key(join_path(at.path, t.name));
      out.push(t.tensor);
    }
  out.close();
}

}  // namespace

void list_parameters(Module& module, Values& out) {
  list_role(module, Role::parameter, out);
}
void list_buffers(Module& module, Values& out) {
  list_role(module, Role::buffer, out);
}

void list_state(Module& module, Values& out) {
  out.reset();
  out.open(true, {});
  for (auto& at : module_paths_of(module))
    for (auto& t : at.module->tensors()) {
      out.key(join_path(at.path, t.name));
      out.push(t.tensor);
    }
  out.close();
}

void list_paths(Module& module, Values& out) {
  out.reset();
  out.open(false, {});
  for (auto& at : module_paths_of(module))
    for (auto& t : at.module->tensors()) out.push(Any::string(join_path(at.path, t.name)));
  out.close();
}

}  // namespace thunder
