/* Written by bindings/swig/generate.py from bindings/classes.api; tools/check --write refreshes it. */
#include "lua/described.h"

static int call_set_num_threads(lua_State *L)
{
    size_t count = count_given(L, 1, "set_num_threads: count");
    check_status(L, thunder_context_set_num_threads(layer_of(L)->context, count));
    return 0;
}

static int call_set_logs(lua_State *L)
{
    const char *logs = lua_isnoneornil(L, 1) ? "" : text_given(L, 1, "set_logs: logs");
    check_status(L, thunder_context_set_logs(layer_of(L)->context, logs));
    return 0;
}

static int call_set_memory_cache(lua_State *L)
{
    size_t bytes = count_given(L, 1, "set_memory_cache: bytes");
    check_status(L, thunder_context_set_memory_cache(layer_of(L)->context, bytes));
    return 0;
}

static int call_load_plugin(lua_State *L)
{
    const char *path = text_given(L, 1, "load_plugin: path");
    check_status(L, thunder_context_load_plugin(layer_of(L)->context, path));
    return 0;
}

static int call_read_npy(lua_State *L)
{
    const char *path = text_given(L, 1, "read_npy: path");
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *out = NULL;
    check_status(L, thunder_read_npy(layer_of(L)->context, path, &out));
    made->handle = out;
    memory_allocated(L, thunder_tensor_nbytes(out));
    return 1;
}

static int call_write_npy(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    const char *path = text_given(L, 2, "write_npy: path");
    check_status(L, thunder_write_npy(tensor, path));
    return 0;
}

static int call_read_idx(lua_State *L)
{
    const char *path = text_given(L, 1, "read_idx: path");
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *out = NULL;
    check_status(L, thunder_read_idx(layer_of(L)->context, path, &out));
    made->handle = out;
    memory_allocated(L, thunder_tensor_nbytes(out));
    return 1;
}

static int call_read_safetensors(lua_State *L)
{
    const char *path = text_given(L, 1, "read_safetensors: path");
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_read_safetensors(layer_of(L)->context, path, out));
}

static int call_write_safetensors(lua_State *L)
{
    thunder_values *map = values_given(L, 1, "write_safetensors: map");
    const char *path = text_given(L, 2, "write_safetensors: path");
    check_status(L, thunder_write_safetensors(map, path));
    return 0;
}

static int call_plot_history(lua_State *L)
{
    thunder_values *histories = values_given(L, 1, "plot_history: histories");
    const char *path = text_given(L, 2, "plot_history: path");
    check_status(L, thunder_plot_history(histories, path));
    return 0;
}

static int call_compiled_trace_count(lua_State *L)
{
    const thunder_compiled *self = compiled_handle(L, 1);
    lua_pushinteger(L, (lua_Integer)thunder_compiled_trace_count(self));
    return 1;
}

static int call_compiled_function_name(lua_State *L)
{
    const thunder_compiled *self = compiled_handle(L, 1);
    lua_pushstring(L, thunder_compiled_function_name(self));
    return 1;
}

static int call_compiled_last_miss(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    lua_pushstring(L, thunder_compiled_last_miss(self));
    return 1;
}

static int call_compiled_explain(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    const char *what = lua_isnoneornil(L, 2) ? "fusion" : text_given(L, 2, "explain: what");
    const char *out = NULL;
    check_status(L, thunder_compiled_explain(self, what, &out));
    lua_pushstring(L, out);
    return 1;
}

static int call_compiled_write_report(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    const char *path = text_given(L, 2, "write_report: path");
    check_status(L, thunder_compiled_write_report(self, path));
    return 0;
}

static int call_compiled_repro(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    size_t step = count_given(L, 2, "repro: step");
    const char *out = NULL;
    check_status(L, thunder_compiled_repro(self, step, &out));
    lua_pushstring(L, out);
    return 1;
}

static int call_compiled_graph_breaks(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    lua_pushstring(L, thunder_compiled_graph_breaks(self));
    return 1;
}

static int call_compiled_memory_report(lua_State *L)
{
    thunder_compiled *self = compiled_handle(L, 1);
    lua_pushstring(L, thunder_compiled_memory_report(self));
    return 1;
}

static int call_batches_size(lua_State *L)
{
    const thunder_batches *self = box_check(L, 1, BOX_BATCHES);
    lua_pushinteger(L, (lua_Integer)thunder_batches_count(self));
    return 1;
}

static int call_batches_next(lua_State *L)
{
    thunder_batches *self = box_check(L, 1, BOX_BATCHES);
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_batches_next(self, out));
}

static int call_batches_state(lua_State *L)
{
    const thunder_batches *self = box_check(L, 1, BOX_BATCHES);
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *out = NULL;
    check_status(L, thunder_batches_state(self, &out));
    made->handle = out;
    memory_allocated(L, thunder_tensor_nbytes(out));
    return 1;
}

static int call_batches_set_state(lua_State *L)
{
    thunder_batches *self = box_check(L, 1, BOX_BATCHES);
    thunder_tensor *state = tensor_check(L, 2);
    check_status(L, thunder_batches_set_state(self, state));
    return 0;
}

void open_described(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"set_num_threads", call_set_num_threads},
        {"set_logs", call_set_logs},
        {"set_memory_cache", call_set_memory_cache},
        {"load_plugin", call_load_plugin},
        {"read_npy", call_read_npy},
        {"write_npy", call_write_npy},
        {"read_idx", call_read_idx},
        {"read_safetensors", call_read_safetensors},
        {"write_safetensors", call_write_safetensors},
        {"plot_history", call_plot_history},
        {"trace_count", call_compiled_trace_count},
        {"function_name", call_compiled_function_name},
        {"last_miss", call_compiled_last_miss},
        {"explain", call_compiled_explain},
        {"write_report", call_compiled_write_report},
        {"repro", call_compiled_repro},
        {"graph_breaks", call_compiled_graph_breaks},
        {"memory_report", call_compiled_memory_report},
        {"batches_size", call_batches_size},
        {"batches_next", call_batches_next},
        {"batches_state", call_batches_state},
        {"batches_set_state", call_batches_set_state},
        {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    static const char *const of_files[] = {"load_plugin", "read_npy", "write_npy", "read_idx", "read_safetensors", "write_safetensors", "plot_history", "write_report", NULL};
    static const char *const of_compiled[] = {"trace_count", "function_name", "last_miss", "explain", "write_report", "repro", "graph_breaks", "memory_report", NULL};
    names_push(L, of_files); /* those that reach files */
    lua_setfield(L, -2, "of_files");
    names_push(L, of_compiled);
    lua_setfield(L, -2, "of_compiled");
}
