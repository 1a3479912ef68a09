/* Opens the layer: require "thunder" in a stock interpreter, the tool, and thunder_lua_run_file for other hosts. */
#include <errno.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/layer.h"
#include "lua/prelude.h"

#define EXPORT __attribute__((visibility("default")))

/* The part of the layer that is Lua: each file is called with the public table and the one that C fills. */
static void run_prelude(lua_State *L, int public_table, int core_table)
{
    for (const thunder_prelude *file = thunder_prelude_files; file->name; file++) {
        lua_pushfstring(L, "=thunder.%s", file->name);
        if (luaL_loadbufferx(L, file->text, file->bytes, lua_tostring(L, -1), "t")) lua_error(L);
        lua_pushvalue(L, public_table);
        lua_pushvalue(L, core_table);
        lua_call(L, 2, 0);
        lua_pop(L, 1);
    }
}

/* Pushes the public table. */
static void open_layer(lua_State *L, thunder_context *context_or_null, limits *limits_or_null)
{
    luaL_checkversion(L);
    lua_settop(L, 0);
    box_define(L);
    layer_open(L, context_or_null)->limits = limits_or_null;
    lua_newtable(L);
    lua_newtable(L);
#define OPENED(file) open_##file(L);
    LAYER_FILES(OPENED)
#undef OPENED
    run_prelude(L, 1, 2);
    lua_settop(L, 1);
}

EXPORT int luaopen_thunder(lua_State *L)
{
    open_layer(L, NULL, NULL);
    return 1;
}

typedef struct script {
    thunder_context *context;
    const char *path;
    limits *limits;
    bool missing; /* there is no such file */
} script;

static int add_traceback(lua_State *L)
{
    if (is_no_memory(L, 1)) return 1;
    luaL_tolstring(L, 1, NULL);
    traceback_add(L, lua_gettop(L));
    return 1;
}

/* Lua says of a file that it cannot be opened, and why only in words. */
static bool is_missing(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file) fclose(file);
    return !file && (errno == ENOENT || errno == ENOTDIR);
}

static int run_script(lua_State *L)
{
    script *self = lua_touserdata(L, 1);
    limits_open_libraries(L, self->limits);
    open_layer(L, self->context, self->limits);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "thunder");
    lua_pushcfunction(L, add_traceback);
    const int handler = lua_gettop(L);
    const int unread = luaL_loadfilex(L, self->path, "t");
    self->missing = unread == LUA_ERRFILE && is_missing(self->path);
    if (unread) return lua_error(L);
    layer *state = layer_of(L);
    pthread_mutex_lock(&state->lock);
    limits_begin(L, self->limits);
    const int failed = lua_pcall(L, 0, 0, handler);
    limits_end(L, self->limits);
    pthread_mutex_unlock(&state->lock);
    if (failed && error_code(L, failed, self->limits) == THUNDER_OUT_OF_MEMORY) note_no_memory(L);
    return failed ? lua_error(L) : 0;
}

/* Runs a Lua file in a state of its own whose `require "thunder"` works in this context. The state ends with the script,
 * or with the last that it registered; an error object comes out as its text. */
EXPORT thunder_status *thunder_lua_run_file(thunder_context *context, const char *path, const thunder_script_limits *given)
{
    static const char no_memory[] = "out of memory for a Lua state", no_text[] = "the script raised an error without text";
    limits *limits = calloc(1, sizeof *limits);
    lua_State *L = limits ? lua_newstate(limits_allocate, limits) : NULL;
    if (!L) {
        free(limits);
        return thunder_status_create(THUNDER_OUT_OF_MEMORY, no_memory, sizeof no_memory - 1);
    }
    limits->memory_bytes = given->memory_bytes, limits->instructions = given->instructions;
    limits->restricted = given->restricted != 0;
    script self = {context, path, limits, false};
    lua_pushcfunction(L, add_traceback);
    lua_pushcfunction(L, run_script);
    lua_pushlightuserdata(L, &self);
    thunder_status *status = NULL;
    const int failed = lua_pcall(L, 1, 0, 1);
    if (failed) {
        const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : no_text;
        status = thunder_status_create(self.missing ? THUNDER_NOT_FOUND : error_code(L, failed, limits), text, strlen(text));
    }
    lua_settop(L, 0);
    layer_finish(L);
    return status;
}
