// thunder_context_load_plugin: opens a shared library written against thunder/plugin.h.
#include <dlfcn.h>

#define THUNDER_PLUGIN_HOST
#include "capi/callback.h"
#include "capi/context.h"
#include "thunder/plugin.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

constexpr thunder_host_api kHost = {
    sizeof(thunder_host_api),   THUNDER_VERSION_NUMBER,   thunder_status_create,     thunder_status_release,
    thunder_status_code,        thunder_status_message,   thunder_node_op,           thunder_node_input,
    thunder_node_output,        thunder_node_arg,         thunder_tensor_dtype,      thunder_tensor_device,
    thunder_tensor_rank,        thunder_tensor_size,      thunder_executor_create,   thunder_context_add_executor,
    thunder_executor_release,   thunder_node_input_value, thunder_node_output_value, thunder_node_line_count,
    thunder_node_line,          thunder_node_input_count, thunder_node_output_count, thunder_node_arg_count,
    thunder_node_arg_name,      thunder_node_where,       thunder_node_executor,     thunder_context_add_op,
    thunder_context_add_kernel, thunder_types_push,       thunder_types_push_like,   thunder_pass_create,
    thunder_context_add_pass,   thunder_pass_release,     thunder_editor_line_count, thunder_editor_line,
    thunder_editor_before,      thunder_editor_value,     thunder_editor_arguments,  thunder_editor_replace,
    thunder_editor_delete,      thunder_op_invoke,        thunder_op_invoke_all,     thunder_scope_number,
    thunder_scope_list,         thunder_scope_status,     thunder_scope_fail,        thunder_values_count,
    thunder_values_find,        thunder_values_kind,      thunder_values_tensor,     thunder_values_i64,
    thunder_values_f64,         thunder_values_str,       thunder_values_get,        thunder_values_push,
    thunder_values_push_tensor, thunder_context_add_engine,
};

[[noreturn]] void fail_to_load(const char* path, const char* why) {
  throw Refusal{Code::not_found, cat("cannot load plugin '", path, "': ", why ? why : "unknown reason")};
}

thunder_plugin_query open_plugin(const char* path) {
  // Never closed: kernels of the plugin may run as long as the process does.
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_to_load(path, dlerror());
  void* found = dlsym(library, "thunder_plugin_query_v1");
  if (!found) fail_to_load(path, dlerror());
  return reinterpret_cast<thunder_plugin_query>(found);
}

// Runs a function of the plugin.
template <class F>
void call_plugin(const char* name, const char* which, F&& function) {
  const auto failed = call_with_status(which, function);
  if (!failed) return;
  if (failed->has_foreign()) throw Error(failed);
  throw Error(failed->code(), cat("plugin '", name, "': ", failed->message()));
}

void load(thunder_context* context, const char* path) {
  const thunder_plugin_query query = open_plugin(path);
  const thunder_plugin_desc* desc = nullptr;
  call_plugin(path, "thunder_plugin_query_v1", [&] { return query(&kHost, THUNDER_PLUGIN_ABI, &desc); });
  check(desc && desc->size >= THUNDER_SIZE_UPTO(thunder_plugin_desc, start) && desc->start, "plugin '", path,
        "' gives no descriptor");
  const char* name = desc->name ? desc->name : path;
  check(desc->abi_min <= THUNDER_PLUGIN_ABI && THUNDER_PLUGIN_ABI <= desc->abi_max, "plugin '", name,
        "' is made for versions ", desc->abi_min, " to ", desc->abi_max,
        " of the plugin interface, this library has version ", THUNDER_PLUGIN_ABI);
  call_plugin(name, "its start", [&] { return desc->start(context, &kHost); });
}

}  // namespace

extern "C" thunder_status* thunder_context_load_plugin(thunder_context* context, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(path, "path");
    const Ref<Context> held(core(context));  // code of the plugin runs
    load(context, path);
  }));
}
