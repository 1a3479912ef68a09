/* Traces: the stages of a program, as text. */
#include <string.h>

#include "lua/layer.h"

/* core.parse_trace(text) */
static int core_parse_trace(lua_State *L)
{
    size_t bytes;
    const char *text = luaL_checklstring(L, 1, &bytes);
    box *made = box_push(L, BOX_TRACE);
    thunder_trace *trace = NULL;
    check_status(L, thunder_trace_parse(layer_of(L)->context, text, bytes, &trace));
    made->handle = trace;
    return 1;
}

/* core.load_chunk(text, environment): the text as a Lua function, never as precompiled code. */
static int core_load_chunk(lua_State *L)
{
    size_t bytes;
    const char *text = luaL_checklstring(L, 1, &bytes);
    if (luaL_loadbufferx(L, text, bytes, "=trace", "t")) return refuse(L, "%s", lua_tostring(L, -1));
    lua_pushvalue(L, 2);
    lua_setupvalue(L, -2, 1);
    return 1;
}

void open_trace(lua_State *L)
{
    static const luaL_Reg functions[] = {{"parse_trace", core_parse_trace},
                                         {"load_chunk", core_load_chunk},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
