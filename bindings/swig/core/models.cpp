// What a call can do with modules and files.
#include "action.h"
#include "call.h"

namespace thunder_swig {

Options::Options(thunder_context* context, const Items& items) {
  check(thunder_options_create(context, &handle));
  const Arguments arguments(items, nullptr);
  for (size_t i = 0; i < arguments.any.size(); i++) {
    const char* name = arguments.names.empty() ? nullptr : arguments.names[i];
    if (name) thunder_options_set(handle, name, &arguments.any[i]);
    if (name) continue;
    thunder_options_release(handle);
    refuse(THUNDER_INVALID_ARGUMENT, "every option has a name");
  }
}

Module* Call::make_module(const char* kind) {
  Module* made = nullptr;
  perform([&] {
    const Arguments arguments(items_, find_schema("modules", kind ? kind : ""));
    thunder_module* handle = nullptr;
    check(thunder_module_create(context(), kind, arguments.any.data(), arguments.any.size(),
                                arguments.names.empty() ? nullptr : arguments.names.data(), &handle));
    made = new Module(handle);
    return Items{};
  });
  return made;
}

bool Call::add_child(const Module& module, const char* name, const Module& child) {
  return perform([&] {
    check(thunder_module_add(module.handle, name, child.handle));
    return Items{};
  });
}

bool Call::forward(const Module& module) {
  return perform([&] {
    thunder_scope* scope = scope_now();
    const Values in(context());
    fill_values(items_, in);
    const thunder_values* results = thunder_module_call(scope, module.handle, in);
    scope_check(scope);
    Items made = items_of(results, thunder_scope_is_tracing(scope));
    scope_done(scope);
    return made;
  });
}

Function* Call::module_function(const Module& module) {
  Function* made = nullptr;
  perform([&] {
    thunder_function* handle = nullptr;
    check(thunder_module_function(module.handle, &handle));
    made = new Function(handle);
    return Items{};
  });
  return made;
}

bool Call::parameters(const Module& module) {
  return perform([&] {
    const Values map(context());
    check(thunder_module_parameters(module.handle, map));
    return items_of(map, false);
  });
}

bool Call::state(const Module& module) {
  return perform([&] {
    const Values map(context());
    check(thunder_module_state(module.handle, map));
    return items_of(map, false);
  });
}

bool Call::train(const Module& module, bool training) {
  return perform([&] {
    check(thunder_module_set_training(module.handle, training));
    return Items{};
  });
}

bool Call::save(const Module& module, const char* path) {
  return perform([&] {
    check(thunder_module_save(module.handle, path));
    return Items{};
  });
}

bool Call::load(const Module& module, const char* path) {
  return perform([&] {
    check(thunder_module_load(module.handle, path, 1));
    return Items{};
  });
}

bool Call::read_csv(const char* path) {
  return perform([&] {
    return tensor_made([&](thunder_tensor** out) { return thunder_read_csv(context(), path, 0, out); });
  });
}

bool Call::read_npy(const char* path) {
  return perform([&] {
    return tensor_made([&](thunder_tensor** out) { return thunder_read_npy(context(), path, out); });
  });
}

bool Call::write_npy(const Tensor& tensor, const char* path) {
  return perform([&] {
    check(thunder_write_npy(tensor.handle, path));
    return Items{};
  });
}

bool Call::read_idx(const char* path) {
  return perform([&] {
    return tensor_made([&](thunder_tensor** out) { return thunder_read_idx(context(), path, out); });
  });
}

bool Call::read_safetensors(const char* path) {
  return perform([&] {
    const Values map(context());
    check(thunder_read_safetensors(context(), path, map));
    return items_of(map, false);
  });
}

bool Call::write_safetensors(const char* path) {
  return perform([&] {
    const Values map(context());
    fill_values(items_, map);
    check(thunder_write_safetensors(map, path));
    return Items{};
  });
}

}  // namespace thunder_swig
