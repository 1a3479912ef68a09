#include "modules/state.h"

#include <unordered_set>

namespace thunder {
namespace {

// The module's own tensors that `wants` selects: parameters, then buffers, each in the order of addition.
template <class Wants>
std::vector<const Module::NamedSlot*> collect_slots(const Module& module, const Wants& wants) {
  std::vector<const Module::NamedSlot*> out;
  for (const bool parameters : {true, false})
    for (auto& t : module.tensors())
      if ((t.role == Role::parameter) == parameters && wants(t.role)) out.push_back(&t);
  return out;
}
bool is_parameter(Role role) {
  return role == Role::parameter;
}
bool is_buffer(Role role) {
  return role != Role::parameter;
}
bool is_saved(Role role) {
  return role != Role::transient;
}

// Takes each tensor once, under its first path.
template <class Wants, class Take>
void each_once(Module& module, const Wants& wants, const Take& take) {
  std::unordered_set<const Tensor*> seen;
  for (auto& at : modules_of(module))
    for (auto* t : collect_slots(*at.module, wants))
      if (seen.insert(t->tensor.get()).second) take(join_path(at.path, t->name), t->tensor);
}

}  // namespace

void list_parameters(Module& module, Values& out) {
  out.reset();
  out.open(true, {});
  each_once(module, is_parameter, [&](const std::string& path, const Ref<Tensor>& tensor) {
    out.key(path);
    out.push(tensor);
  });
  out.close();
}

void list_buffers(Module& module, Values& out) {
  out.reset();
  out.open(false, {});
  each_once(module, is_buffer, [&](const std::string& path, const Ref<Tensor>& tensor) {
    out.open(false, {});
    out.push(Any::string(path));
    out.push(tensor);
    out.close();
  });
  out.close();
}

std::vector<NamedTensor> state_of(Module& module) {
  std::vector<NamedTensor> out;
  for (auto& at : module_paths_of(module))
    for (auto* t : collect_slots(*at.module, is_saved)) out.push_back({join_path(at.path, t->name), t->tensor});
  return out;
}

void list_state(Module& module, Values& out) {
  out.reset();
  out.open(true, {});
  for (auto& item : state_of(module)) {
    out.key(item.name);
    out.push(item.tensor);
  }
  out.close();
}

void list_paths(Module& module, Values& out) {
  out.reset();
  out.open(false, {});
  for (auto& item : state_of(module)) out.push(Any::string(item.name));
  out.close();
}

}  // namespace thunder
