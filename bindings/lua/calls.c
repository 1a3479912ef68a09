/* Written by bindings/swig/generate.py from bindings/lua/calls.api; tools/check --write refreshes it. */
#include "lua/described.h"

static int call_rank(lua_State *L)
{
    const thunder_tensor *tensor = tensor_check(L, 1);
    lua_pushinteger(L, (lua_Integer)thunder_tensor_rank(tensor));
    return 1;
}

static int call_dtype(lua_State *L)
{
    const thunder_tensor *tensor = tensor_check(L, 1);
    constant_push(L, THUNDER_DTYPE, thunder_tensor_dtype(tensor));
    return 1;
}

static int call_device_of(lua_State *L)
{
    const thunder_tensor *tensor = tensor_check(L, 1);
    constant_push(L, THUNDER_DEVICE, thunder_tensor_device(tensor));
    return 1;
}

static int call_reset_peak_memory_stats(lua_State *L)
{
    thunder_device device = device_check(L, 1);
    check_status(L, thunder_context_reset_peak_memory_stats(layer_of(L)->context, device));
    return 0;
}

static int call_empty_cache(lua_State *L)
{
    thunder_device device = device_check(L, 1);
    check_status(L, thunder_context_empty_cache(layer_of(L)->context, device));
    return 0;
}

static int call_synchronize(lua_State *L)
{
    thunder_device device = device_check(L, 1);
    check_status(L, thunder_context_synchronize(layer_of(L)->context, device));
    return 0;
}

static int call_set_batch_device(lua_State *L)
{
    thunder_batches *batches = box_check(L, 1, BOX_BATCHES);
    thunder_device device = device_check(L, 2);
    check_status(L, thunder_batches_set_device(batches, device));
    return 0;
}

static int call_describe(lua_State *L)
{
    const char *what = luaL_checkstring(L, 1);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_context_describe(layer_of(L)->context, what, out));
}

static int call_set_default_executors(lua_State *L)
{
    const char *names_or_null = luaL_checkstring(L, 1);
    check_status(L, thunder_context_set_default_executors(layer_of(L)->context, names_or_null));
    return 0;
}

static int call_set_printoptions(lua_State *L)
{
    const thunder_options *options = options_check(L, 1);
    check_status(L, thunder_context_set_printoptions(layer_of(L)->context, options));
    return 0;
}

static int call_random(lua_State *L)
{
    tensor_push(L, thunder_context_random(layer_of(L)->context));
    return 1;
}

static int call_mark_dynamic(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    int32_t dim = (int32_t)luaL_checkinteger(L, 2);
    int64_t min = (int64_t)luaL_checkinteger(L, 3);
    int64_t max = (int64_t)luaL_checkinteger(L, 4);
    check_status(L, thunder_mark_dynamic(layer_of(L)->context, tensor, dim, min, max));
    return 0;
}

static int call_maybe_mark_dynamic(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    int32_t dim = (int32_t)luaL_checkinteger(L, 2);
    check_status(L, thunder_maybe_mark_dynamic(layer_of(L)->context, tensor, dim));
    return 0;
}

static int call_mark_static(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    int32_t dim = (int32_t)luaL_checkinteger(L, 2);
    check_status(L, thunder_mark_static(layer_of(L)->context, tensor, dim));
    return 0;
}

static int call_program_module(lua_State *L)
{
    const thunder_compiled *compiled = compiled_handle(L, 1);
    thunder_module *out = NULL;
    check_status(L, thunder_compiled_module(compiled, &out));
    module_push(L, out);
    thunder_module_release(out);
    return 1;
}

static int call_signature(lua_State *L)
{
    thunder_compiled *compiled = compiled_handle(L, 1);
    lua_pushstring(L, thunder_compiled_signature(compiled));
    return 1;
}

static int call_save_program(lua_State *L)
{
    thunder_compiled *compiled = compiled_handle(L, 1);
    const char *path = luaL_checkstring(L, 2);
    check_status(L, thunder_program_save(compiled, path));
    return 0;
}

static int call_compile_ahead(lua_State *L)
{
    thunder_compiled *compiled = compiled_handle(L, 1);
    const char *path = luaL_checkstring(L, 2);
    check_status(L, thunder_program_compile_ahead(compiled, path));
    return 0;
}

static int call_export_onnx(lua_State *L)
{
    thunder_compiled *compiled = compiled_handle(L, 1);
    const char *path = luaL_checkstring(L, 2);
    const thunder_options *options_or_null = options_check(L, 3);
    check_status(L, thunder_program_export_onnx(compiled, path, options_or_null));
    return 0;
}

static int call_export_c(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    const char *folder = luaL_checkstring(L, 2);
    const thunder_options *options_or_null = options_check(L, 3);
    check_status(L, thunder_program_export_c(layer_of(L)->context, path, folder, options_or_null));
    return 0;
}

static int call_trace_text(lua_State *L)
{
    const thunder_trace *trace = box_check(L, 1, BOX_TRACE);
    lua_pushstring(L, thunder_trace_text(trace));
    return 1;
}

static int call_trace_name(lua_State *L)
{
    const thunder_trace *trace = box_check(L, 1, BOX_TRACE);
    lua_pushstring(L, thunder_trace_name(trace));
    return 1;
}

static int call_trace_milliseconds(lua_State *L)
{
    const thunder_trace *trace = box_check(L, 1, BOX_TRACE);
    lua_pushnumber(L, thunder_trace_milliseconds(trace));
    return 1;
}

static int call_add(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    const char *name = luaL_checkstring(L, 2);
    thunder_module *child = box_check(L, 3, BOX_MODULE);
    check_status(L, thunder_module_add(module, name, child));
    return 0;
}

static int call_remove_tensor(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    const char *name = luaL_checkstring(L, 2);
    check_status(L, thunder_module_remove_tensor(module, name));
    return 0;
}

static int call_child_name(lua_State *L)
{
    const thunder_module *module = box_check(L, 1, BOX_MODULE);
    size_t index = count_given(L, 2, "child_name: index");
    lua_pushstring(L, thunder_module_child_name(module, index));
    return 1;
}

static int call_module_kind(lua_State *L)
{
    const thunder_module *module = box_check(L, 1, BOX_MODULE);
    lua_pushstring(L, thunder_module_kind(module));
    return 1;
}

static int call_module_text(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_module_text(module, out));
}

static int call_set_tensor(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    const char *name = luaL_checkstring(L, 2);
    thunder_tensor *tensor = tensor_check(L, 3);
    int32_t role = (int32_t)luaL_checkinteger(L, 4);
    check_status(L, thunder_module_set_tensor(module, name, tensor, role));
    return 0;
}

static int call_set_training(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    int32_t training = lua_toboolean(L, 2);
    check_status(L, thunder_module_set_training(module, training));
    return 0;
}

static int call_paths(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_module_paths(module, out));
}

static int call_buffers(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_module_buffers(module, out));
}

static int call_parameters(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_module_parameters(module, out));
}

static int call_state(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_module_state(module, out));
}

static int call_save(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    const char *path = text_given(L, 2, "save: path");
    check_status(L, thunder_module_save(module, path));
    return 0;
}

static int call_load(lua_State *L)
{
    thunder_module *module = box_check(L, 1, BOX_MODULE);
    const char *path = text_given(L, 2, "load: path");
    int32_t strict = lua_toboolean(L, 3);
    check_status(L, thunder_module_load(module, path, strict));
    return 0;
}

static int call_group_count(lua_State *L)
{
    const thunder_optimizer *optimizer = box_check(L, 1, BOX_OPTIMIZER);
    lua_pushinteger(L, (lua_Integer)thunder_optimizer_group_count(optimizer));
    return 1;
}

static int call_get_number(lua_State *L)
{
    const thunder_optimizer *optimizer = box_check(L, 1, BOX_OPTIMIZER);
    const char *name = luaL_checkstring(L, 2);
    double out = 0;
    check_status(L, thunder_optimizer_get_f64(optimizer, name, &out));
    lua_pushnumber(L, out);
    return 1;
}

static int call_optimizer_text(lua_State *L)
{
    const thunder_optimizer *optimizer = box_check(L, 1, BOX_OPTIMIZER);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_optimizer_text(optimizer, out));
}

static int call_optimizer_state(lua_State *L)
{
    thunder_optimizer *optimizer = box_check(L, 1, BOX_OPTIMIZER);
    module_push(L, thunder_optimizer_state(optimizer));
    return 1;
}

static int call_schedule_last_lr(lua_State *L)
{
    const thunder_schedule *schedule = box_check(L, 1, BOX_SCHEDULE);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_schedule_last_lr(schedule, out));
}

static int call_schedule_state(lua_State *L)
{
    thunder_schedule *schedule = box_check(L, 1, BOX_SCHEDULE);
    module_push(L, thunder_schedule_state(schedule));
    return 1;
}

static int call_add_executor(lua_State *L)
{
    thunder_executor *executor = box_check(L, 1, BOX_EXECUTOR);
    check_status(L, thunder_context_add_executor(layer_of(L)->context, executor));
    return 0;
}

static int call_add_pass(lua_State *L)
{
    thunder_pass *pass = box_check(L, 1, BOX_PASS);
    check_status(L, thunder_context_add_pass(layer_of(L)->context, pass));
    return 0;
}

static int call_editor_count(lua_State *L)
{
    const thunder_editor *editor = box_check(L, 1, BOX_EDITOR);
    lua_pushinteger(L, (lua_Integer)thunder_editor_line_count(editor));
    return 1;
}

void open_calls(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"rank", call_rank},
        {"dtype", call_dtype},
        {"device_of", call_device_of},
        {"reset_peak_memory_stats", call_reset_peak_memory_stats},
        {"empty_cache", call_empty_cache},
        {"synchronize", call_synchronize},
        {"set_batch_device", call_set_batch_device},
        {"describe", call_describe},
        {"set_default_executors", call_set_default_executors},
        {"set_printoptions", call_set_printoptions},
        {"random", call_random},
        {"mark_dynamic", call_mark_dynamic},
        {"maybe_mark_dynamic", call_maybe_mark_dynamic},
        {"mark_static", call_mark_static},
        {"program_module", call_program_module},
        {"signature", call_signature},
        {"save_program", call_save_program},
        {"compile_ahead", call_compile_ahead},
        {"export_onnx", call_export_onnx},
        {"export_c", call_export_c},
        {"trace_text", call_trace_text},
        {"trace_name", call_trace_name},
        {"trace_milliseconds", call_trace_milliseconds},
        {"add", call_add},
        {"remove_tensor", call_remove_tensor},
        {"child_name", call_child_name},
        {"module_kind", call_module_kind},
        {"module_text", call_module_text},
        {"set_tensor", call_set_tensor},
        {"set_training", call_set_training},
        {"paths", call_paths},
        {"buffers", call_buffers},
        {"parameters", call_parameters},
        {"state", call_state},
        {"save", call_save},
        {"load", call_load},
        {"group_count", call_group_count},
        {"get_number", call_get_number},
        {"optimizer_text", call_optimizer_text},
        {"optimizer_state", call_optimizer_state},
        {"schedule_last_lr", call_schedule_last_lr},
        {"schedule_state", call_schedule_state},
        {"add_executor", call_add_executor},
        {"add_pass", call_add_pass},
        {"editor_count", call_editor_count},
        {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
