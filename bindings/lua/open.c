/* Opens the layer: require "thunder" in a stock interpreter, the tool, and thunder_lua_run_file for other hosts. */
#include <lualib.h>
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

EXPORT int luaopen_thunder(lua_State *L)
{
    luaL_checkversion(L);
    lua_settop(L, 0);
    box_define(L);
    layer_open(L);
    lua_newtable(L);
    lua_newtable(L);
    open_errors(L);
    open_constant(L);
    open_tensor(L);
    open_elements(L);
    open_op(L);
    open_scope(L);
    open_compile(L);
    open_trace(L);
    open_host(L);
    run_prelude(L, 1, 2);
    lua_settop(L, 1);
    return 1;
}
