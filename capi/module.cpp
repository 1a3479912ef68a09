// thunder_module_*: trees of layers with tensors by name.
#include "capi/module.h"

#include "capi/function.h"
#include "capi/leaf.h"
#include "modules/access.h"
#include "modules/checkpoint.h"
#include "modules/set_option.h"
#include "modules/state.h"
#include "modules/text.h"

using namespace thunder;
using namespace thunder::capi;

static thunder_values* call_module(thunder_scope* scope, thunder_module* module, const thunder_values* in,
                                   const char* where, const char* function) noexcept {
  return handle(make_values_in(core(scope), function, [&] {
    need(module, "module"), need(in, "in");
    const Ref<ModuleHandle> held_module(core(module));
    const auto held = hold_values(*core(in));
    if (core(in)->status()) throw Error(core(in)->status());
    return module_call(*core(scope), *core(module)->module, *core(in), where);
  }));
}

extern "C" {

thunder_status* thunder_module_create(thunder_context* context, const char* kind, const thunder_any* args,
                                      size_t n_args, const char* const* names_or_null, thunder_module** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(kind, "kind"), need(out, "out");
    const CoreLeaves given_args(kind, args, n_args);
    check_args(kind, &core(context)->devices(), given_args.span());
    Ref<Context> owner(core(context));
    auto module = make_module(owner->module_environment(), kind, given_args.span(), names_or_null);
    *out = given(make<ModuleHandle>(std::move(owner), std::move(module)));
  }));
}

thunder_module* thunder_module_retain(thunder_module* module) noexcept {
  return retained(module);
}
void thunder_module_release(thunder_module* module) noexcept {
  released(module);
}

const char* thunder_module_kind(const thunder_module* module) noexcept {
  const auto* const object = core(module);
  return object ? object->module->kind().schema().name.c_str() : "";
}

thunder_status* thunder_module_add(thunder_module* module, const char* name, thunder_module* child) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name"), need(child, "child");
    check(core(module)->context == core(child)->context, "module and child are of different contexts");
    core(module)->module->add(name, core(child)->module);
  }));
}

thunder_status* thunder_module_remove(thunder_module* module, const char* name) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name");
    core(module)->module->remove(name);
  }));
}

thunder_status* thunder_module_option(const thunder_module* module, const char* name, thunder_any* out) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name"), need(out, "out");
    const Module& m = *core(module)->module;
    std::vector<std::string_view> known;
    for (const Param& p : m.kind().schema().params) known.push_back(p.name);
    if (m.kind().schema().find(name) < 0)
      throw Refusal{Code::not_found, cat(m.kind().name(), " has no option '", name, "'", suggest(name, known))};
    *core(out) = OpArg(m.option(name));
  }));
}

thunder_status* thunder_module_set_option(thunder_module* module, const char* name, const thunder_any* value) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name"), need(value, "value");
    Context& context = *core(module)->context;
    const CoreLeaves given_value(name, value, 1);
    check_args(name, &context.devices(), given_value.span());
    set_option(context.module_environment(), *core(module)->module, name, given_value[0]);
  }));
}

const char* thunder_module_child_name(const thunder_module* module, size_t index) noexcept {
  const ModuleHandle* const m = core(module);
  if (!m) return nullptr;
  auto& children = m->module->children();
  return index < children.size() ? children[index].name.c_str() : nullptr;
}

thunder_status* thunder_module_text(thunder_module* module, thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out, "out");
    core(out)->push(Any::string(module_text(*core(module)->module)));
  }));
}

thunder_status* thunder_module_copy(thunder_module* module, thunder_module** out) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out, "out");
    Ref<Context> owner = core(module)->context;
    auto copy = core(module)->module->copy(owner->allocator());
    *out = given(make<ModuleHandle>(std::move(owner), std::move(copy)));
  }));
}

thunder_status* thunder_module_child(thunder_module* module, const char* path, thunder_module** out) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(path, "path"), need(out, "out");
    Module* found = core(module)->module->find(path);
    if (!found) throw Refusal{Code::not_found, cat("there is no module '", path, "'")};
    *out = given(make<ModuleHandle>(core(module)->context, Ref<Module>(found)));
  }));
}

thunder_status* thunder_module_set_tensor(thunder_module* module, const char* name, thunder_tensor* tensor,
                                          int32_t role) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name"), need(tensor, "tensor");
    check(role >= THUNDER_PARAMETER && role <= THUNDER_TRANSIENT_BUFFER,
          "role must be THUNDER_PARAMETER, THUNDER_BUFFER or THUNDER_TRANSIENT_BUFFER, got ", role);
    check(core(tensor)->concrete(), "tensor has no data");
    core(module)->module->set_tensor(name, Ref<Tensor>(core(tensor)), static_cast<Role>(role));
  }));
}

thunder_status* thunder_module_remove_tensor(thunder_module* module, const char* name) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(name, "name");
    core(module)->module->remove_tensor(name);
  }));
}

thunder_status* thunder_module_set_forward(thunder_module* module, thunder_fn forward, void* user,
                                           void (*destroy)(void*)) noexcept {
  return given(guarded(__func__, [&] {
    auto function = callback_function("forward", forward, user, destroy);
    need(module, "module");
    core(module)->module->set_forward(std::move(function));
  }));
}

thunder_tensor* thunder_module_tensor(thunder_scope* scope, thunder_module* module, const char* path) noexcept {
  return handle(make_tensor_in(scope, __func__, [&] {
    need(module, "module"), need(path, "path");
    return module_tensor(*core(scope), *core(module)->module, path);
  }));
}

int32_t thunder_module_training(thunder_scope* scope, thunder_module* module) noexcept {
  return value_in<int32_t>(core(scope), __func__, 0, [&] {
    need(module, "module");
    return static_cast<int32_t>(module_training(*core(scope), *core(module)->module));
  });
}

thunder_values* thunder_module_call(thunder_scope* scope, thunder_module* module, const thunder_values* in) noexcept {
  return call_module(scope, module, in, nullptr, __func__);
}

thunder_values* thunder_module_call_at(thunder_scope* scope, thunder_module* module, const thunder_values* in,
                                       const char* where) noexcept {
  return call_module(scope, module, in, where, __func__);
}

thunder_status* thunder_module_function(thunder_module* module, thunder_function** out) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out, "out");
    *out = given(make<FunctionHandle>(core(module)->context, module_function(core(module)->module)));
  }));
}

thunder_status* thunder_module_parameters(thunder_module* module, thunder_values* out_map) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out_map, "out_map");
    core(out_map)->reset();
    list_parameters(*core(module)->module, *core(out_map));
  }));
}

thunder_status* thunder_module_state(thunder_module* module, thunder_values* out_map) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out_map, "out_map");
    core(out_map)->reset();
    list_state(*core(module)->module, *core(out_map));
  }));
}

thunder_status* thunder_module_buffers(thunder_module* module, thunder_values* out_list) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out_list, "out_list");
    list_buffers(*core(module)->module, *core(out_list));
  }));
}

thunder_status* thunder_module_paths(thunder_module* module, thunder_values* out_list) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(out_list, "out_list");
    list_paths(*core(module)->module, *core(out_list));
  }));
}

thunder_status* thunder_module_set_training(thunder_module* module, int32_t training) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module");
    core(module)->module->set_training(training != 0);
  }));
}

thunder_status* thunder_module_to(thunder_module* module, thunder_device device) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module");
    Context& context = *core(module)->context;
    core(module)->module->to(context.devices(), device_of(context, device));
  }));
}

thunder_status* thunder_module_to_dtype(thunder_module* module, thunder_dtype dtype) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module");
    core(module)->module->to(core(module)->context->scope_environment(), static_cast<DType>(dtype));
  }));
}

thunder_status* thunder_module_save(thunder_module* module, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(path, "path");
    save_module(*core(module)->module, path);
  }));
}

thunder_status* thunder_module_load(thunder_module* module, const char* path, int32_t strict) noexcept {
  return given(guarded(__func__, [&] {
    need(module, "module"), need(path, "path");
    load_module(*core(module)->module, path, strict != 0, core(module)->context->allocator());
  }));
}

}  // extern "C"
