/* Compiled functions: a Lua function, a trace or a program from a file, its compiled form and the values that its calls reuse. */
#include <string.h>

#include "lua/described.h"

/* Uservalues: 1 the Lua function, or the name of what is none, 2 and 3 the boxes of `in` and `out`, 4 the options, 5 what the function
 * reads beside its arguments (captured.c). */
typedef struct compiled {
    thunder_function *function; /* first, as the handle of every box */
    thunder_compiled *compiled;
    thunder_values *in, *out;
    bool busy; /* a call is using them; a call inside it makes its own */
} compiled;

static compiled *compiled_check(lua_State *L, int index)
{
    compiled *self = userdata_check(L, index, BOX_COMPILED);
    if (!self->compiled) refuse(L, "a compiled function was used after it had been closed");
    return self;
}

thunder_compiled *compiled_handle(lua_State *L, int index) { return compiled_check(L, index)->compiled; }

static int compiled_gc(lua_State *L)
{
    compiled *self = userdata_check(L, 1, BOX_COMPILED);
    thunder_compiled_release(self->compiled);
    thunder_function_release(self->function);
    self->compiled = NULL, self->function = NULL;
    return 0;
}

/* A function has no name of its own: "file:line" where it begins. Pushes it. */
static const char *function_name(lua_State *L, int index)
{
    lua_Debug about;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">S", &about);
    return lua_pushfstring(L, "%s:%d", about.short_src, about.linedefined);
}

/* Pushes one that is still empty, of the Lua value at `of`. */
static compiled *compiled_push(lua_State *L, int of)
{
    compiled *self = lua_newuserdatauv(L, sizeof *self, 5);
    memset(self, 0, sizeof *self);
    luaL_setmetatable(L, box_name(BOX_COMPILED));
    const int index = lua_gettop(L);
    lua_pushvalue(L, of);
    lua_setiuservalue(L, index, 1);
    self->in = values_box(L);
    lua_setiuservalue(L, index, 2);
    self->out = values_box(L);
    lua_setiuservalue(L, index, 3);
    return self;
}

/* core.compile(f, options or nil, whether f is given objects for what stands for any) */
static int core_compile(lua_State *L)
{
    layer *state = layer_of(L);
    if (!lua_isfunction(L, 1)) return refuse(L, "compile: a function was expected, got %s", type_text(L, 1));
    const bool symbols = lua_toboolean(L, 3);
    lua_settop(L, 2);
    thunder_options *options = options_check(L, 2);
    compiled *self = compiled_push(L, 1);
    const int index = lua_gettop(L);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, index, 4); /* functions among the options live as long as it */
    struct callback *callback = callback_create(L, index);
    if (symbols) callback_give_symbols(callback);
    if (!lua_istable(L, 2) || lua_getfield(L, 2, "sharp_edges") == LUA_TNIL) callback_warn_of_edges(callback);
    check_status(L, thunder_function_create(state->context, function_name(L, 1), callback_run, callback, callback_destroy, &self->function));
    check_status(L, thunder_compile(self->function, options, &self->compiled));
    lua_settop(L, index);
    return 1;
}

/* core.compile_trace(trace, list of captured tensors or nil, options or nil) */
static int core_compile_trace(lua_State *L)
{
    thunder_trace *trace = box_check(L, 1, BOX_TRACE);
    thunder_options *options = options_check(L, 3);
    thunder_values *captured = NULL;
    if (!lua_isnoneornil(L, 2)) {
        captured = values_box(L);
        const char *wrong = values_add(L, 2, captured);
        if (wrong) return refuse(L, "function_from_trace: %s", wrong);
    }
    lua_pushfstring(L, "the trace after %s", thunder_trace_name(trace));
    compiled *self = compiled_push(L, lua_gettop(L));
    check_status(L, thunder_function_from_trace(trace, captured, &self->function));
    check_status(L, thunder_compile(self->function, options, &self->compiled));
    return 1;
}

/* core.load_program(path, options or nil) */
static int core_load_program(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    thunder_options *options = options_check(L, 2);
    compiled *self = compiled_push(L, 1);
    check_status(L, thunder_program_load(layer_of(L)->context, path, options, &self->compiled));
    check_status(L, thunder_compiled_function(self->compiled, &self->function));
    return 1;
}

/* core.load_program_bytes(string, options or nil) */
static int core_load_program_bytes(lua_State *L)
{
    size_t bytes;
    const char *data = luaL_checklstring(L, 1, &bytes);
    thunder_options *options = options_check(L, 2);
    lua_pushliteral(L, "a program in memory");
    compiled *self = compiled_push(L, lua_gettop(L));
    check_status(L, thunder_program_load_bytes(layer_of(L)->context, data, bytes, options, &self->compiled));
    check_status(L, thunder_compiled_function(self->compiled, &self->function));
    return 1;
}

static int push_cache_info(lua_State *L, thunder_cache_info info)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)info.cpu_kernels);
    lua_setfield(L, -2, "cpu_kernels");
    lua_pushinteger(L, (lua_Integer)info.cuda_kernels);
    lua_setfield(L, -2, "cuda_kernels");
    lua_pushinteger(L, (lua_Integer)info.product_choices);
    lua_setfield(L, -2, "product_choices");
    return 1;
}

/* core.save_cache_artifacts(): a string, and a table of counts. */
static int core_save_cache_artifacts(lua_State *L)
{
    thunder_cache_info info = {.size = sizeof info};
    thunder_tensor *made = NULL;
    check_status(L, thunder_context_save_cache_artifacts(layer_of(L)->context, &made, &info));
    tensor_push(L, made); /* which frees it if there is no memory for the string */
    thunder_tensor_release(made);
    const size_t bytes = (size_t)thunder_tensor_nbytes(made);
    luaL_Buffer buffer;
    char *to = luaL_buffinitsize(L, &buffer, bytes);
    check_status(L, thunder_tensor_read(made, to, bytes));
    luaL_pushresultsize(&buffer, bytes);
    return 1 + push_cache_info(L, info);
}

/* core.load_cache_artifacts(string): a table of counts. */
static int core_load_cache_artifacts(lua_State *L)
{
    size_t bytes;
    const char *data = luaL_checklstring(L, 1, &bytes);
    thunder_cache_info info = {.size = sizeof info};
    check_status(L, thunder_context_load_cache_artifacts(layer_of(L)->context, data, bytes, &info));
    return push_cache_info(L, info);
}

/* Inside a traced function its own ops join what is recorded; on a tape it is a program with a backward. */
static int call_inside(lua_State *L, layer *state, compiled *self)
{
    thunder_scope *scope = state->scope;
    thunder_values *in = values_box(L);
    lua_insert(L, 1);
    values_add_all(L, 3, in);
    lua_State *running = layer_enter(state, L);
    thunder_values *out = thunder_compiled_apply(scope, self->compiled, in);
    layer_leave(state, running);
    scope_check(L, state, scope);
    return values_push(L, out, thunder_scope_is_tracing(scope));
}

static int fail_call(lua_State *L, compiled *self, bool own, const char *format, const char *text)
{
    if (own) {
        thunder_values_reset(self->in);
        self->busy = false;
    }
    return refuse(L, format, text);
}

static int compiled_call(lua_State *L)
{
    compiled *self = compiled_check(L, 1);
    layer *state = layer_of(L);
    if (captured_changed(L, 1)) check_status(L, thunder_function_touch(self->function));
    if (layer_recording(state)) return call_inside(L, state, self);
    const bool own = !self->busy;
    const int last = lua_gettop(L);
    thunder_values *in = own ? self->in : values_box(L), *out = own ? self->out : values_box(L);
    if (own) self->busy = true;
    thunder_values_reset(in);
    for (int i = 2; i <= last; i++) {
        const char *wrong = values_add(L, i, in);
        if (wrong) return fail_call(L, self, own, lua_pushfstring(L, "argument %d: %%s", i - 1), wrong);
        if (own) lua_settop(L, last);
    }
    memory_collect_garbage(L, state);
    lua_State *running = layer_enter(state, L);
    thunder_status *failed = thunder_compiled_call(self->compiled, NULL, in, out);
    if (memory_can_retry(L, state, failed)) {
        thunder_status_release(failed);
        failed = thunder_compiled_call(self->compiled, NULL, in, out);
    }
    layer_leave(state, running);
    thunder_values_reset(in);
    if (failed) {
        if (own) self->busy = false;
        check_status(L, failed);
    }
    const int results = values_push(L, out, false);
    thunder_values_reset(out);
    if (own) self->busy = false;
    return results;
}

/* Does something with the arguments from `first` on, which gives nothing. */
typedef thunder_status *(*use_of_call)(thunder_compiled *compiled, const thunder_values *in, size_t number);

static int use_call(lua_State *L, int first, use_of_call use, size_t number)
{
    compiled *self = compiled_check(L, 1);
    layer *state = layer_of(L);
    const int last = lua_gettop(L);
    if (captured_changed(L, 1)) check_status(L, thunder_function_touch(self->function));
    thunder_values *in = values_box(L);
    for (int i = first; i <= last; i++) {
        const char *wrong = values_add(L, i, in);
        if (wrong) return refuse(L, lua_pushfstring(L, "argument %d: %%s", i - first + 1), wrong);
    }
    lua_State *running = layer_enter(state, L);
    thunder_status *failed = use(self->compiled, in, number);
    layer_leave(state, running);
    thunder_values_reset(in);
    check_status(L, failed);
    return 0;
}

static thunder_status *examine_use(thunder_compiled *compiled, const thunder_values *in, size_t number)
{
    (void)number;
    return thunder_compiled_examine(compiled, in);
}

/* core.examine(f, ...) */
static int core_examine(lua_State *L) { return use_call(L, 2, examine_use, 0); }

/* core.profile(f, runs, ...) */
static int core_profile(lua_State *L)
{
    const lua_Integer runs = luaL_checkinteger(L, 2);
    return use_call(L, 3, thunder_compiled_profile, runs > 0 ? (size_t)runs : 0);
}

/* A call as values: the list at `index`, its arguments. The box is pushed. */
static thunder_values *values_of_call(lua_State *L, int index)
{
    thunder_values *values = values_box(L);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        const char *wrong = values_add(L, lua_gettop(L), values);
        if (wrong) refuse(L, "jit.trace: argument %d: %s", (int)i, wrong);
        lua_pop(L, 1);
    }
    return values;
}

/* core.jit_trace(compiled, example, list of calls to check on, options) */
static int core_jit_trace(lua_State *L)
{
    compiled *of = compiled_check(L, 1);
    layer *state = layer_of(L);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
    luaL_checkstack(L, (int)count + 16, "jit.trace: too many check_inputs");
    thunder_options *options = options_check(L, 4);
    const thunder_values **calls = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *calls, 0);
    calls[0] = values_of_call(L, 2);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 3, i);
        calls[i] = values_of_call(L, lua_gettop(L));
    }
    lua_getiuservalue(L, 1, 1);
    if (lua_isfunction(L, -1)) function_name(L, -1);
    compiled *self = compiled_push(L, lua_gettop(L));
    const int index = lua_gettop(L);
    lua_State *running = layer_enter(state, L);
    thunder_status *failed = thunder_function_trace(of->function, calls[0], options, calls + 1, (size_t)count, &self->compiled);
    layer_leave(state, running);
    check_status(L, failed);
    check_status(L, thunder_compiled_function(self->compiled, &self->function));
    lua_settop(L, index);
    return 1;
}

/* core.recompile(compiled, options): what it compiles, with other options */
static int core_recompile(lua_State *L)
{
    compiled *of = compiled_check(L, 1);
    thunder_options *options = options_check(L, 2);
    lua_getiuservalue(L, 1, 1);
    compiled *self = compiled_push(L, lua_gettop(L));
    check_status(L, thunder_compile(of->function, options, &self->compiled));
    check_status(L, thunder_compiled_function(self->compiled, &self->function));
    return 1;
}

typedef thunder_status *(*stage_fn)(const thunder_compiled *compiled, size_t stage, thunder_trace **out);

/* Pushes a list of traces, in the order of the stages. */
static int push_stages(lua_State *L, const thunder_compiled *compiled, size_t count, stage_fn stage)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        box *made = box_push(L, BOX_TRACE);
        thunder_trace *trace = NULL;
        check_status(L, stage(compiled, i, &trace));
        made->handle = trace;
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* core.last_traces(f) */
static int core_last_traces(lua_State *L)
{
    const thunder_compiled *compiled = compiled_check(L, 1)->compiled;
    return push_stages(L, compiled, thunder_compiled_trace_count(compiled), thunder_compiled_trace);
}

/* core.last_backward_traces(f) */
static int core_last_backward_traces(lua_State *L)
{
    const thunder_compiled *compiled = compiled_check(L, 1)->compiled;
    return push_stages(L, compiled, thunder_compiled_backward_trace_count(compiled), thunder_compiled_backward_trace);
}

static int core_stats(lua_State *L)
{
    thunder_statistics s = {.size = sizeof s};
    check_status(L, thunder_compiled_statistics(compiled_check(L, 1)->compiled, &s));
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"calls", s.calls},       {"hits", s.hits},
                {"misses", s.misses},     {"entries", s.entries},
                {"trace_ns", s.trace_ns}, {"transform_ns", s.transform_ns},
                {"compile_ns", s.compile_ns}, {"plan_ns", s.plan_ns}, {"peak_arena_bytes", s.peak_arena_bytes}, {"eager_calls", s.eager_calls},
                {"segments", s.segments}, {"graph_breaks", s.graph_breaks}};
    lua_createtable(L, 0, sizeof rows / sizeof rows[0]);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lua_pushinteger(L, (lua_Integer)rows[i].value);
        lua_setfield(L, -2, rows[i].name);
    }
    return 1;
}

/* core.function_place(f): "file:line" where the function begins that was compiled, or the name of what was. */
static int core_function_place(lua_State *L)
{
    compiled_check(L, 1);
    lua_getiuservalue(L, 1, 1);
    if (lua_isfunction(L, -1)) function_name(L, -1);
    return 1;
}

static int core_is_compiled(lua_State *L)
{
    lua_pushboolean(L, luaL_testudata(L, 1, box_name(BOX_COMPILED)) != NULL);
    return 1;
}

void open_compile(lua_State *L)
{
    static const luaL_Reg functions[] = {{"compile", core_compile},
                                         {"compile_trace", core_compile_trace},
                                         {"load_program", core_load_program}, {"load_program_bytes", core_load_program_bytes},
                                         {"save_cache_artifacts", core_save_cache_artifacts},
                                         {"load_cache_artifacts", core_load_cache_artifacts},
                                         {"jit_trace", core_jit_trace}, {"recompile", core_recompile},
                                         {"last_traces", core_last_traces}, {"last_backward_traces", core_last_backward_traces}, {"stats", core_stats},
                                         {"is_compiled", core_is_compiled}, {"profile", core_profile}, {"examine", core_examine},
                                         {"function_place", core_function_place}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    luaL_getmetatable(L, box_name(BOX_COMPILED));
    lua_pushcfunction(L, compiled_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, compiled_gc);
    lua_setfield(L, -2, "__close");
    lua_pushcfunction(L, compiled_call);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
}
