/* Errors: a status or a sentence becomes a Lua error that begins with the script's line. */
#include <stdarg.h>
#include <string.h>

#include "lua/layer.h"

/* Pushes "file:line: " or "". */
static void push_position(lua_State *L)
{
    const char *place = script_place(L);
    if (place)
        lua_pushfstring(L, "%s: ", place);
    else
        lua_pushliteral(L, "");
}

int refuse(lua_State *L, const char *format, ...)
{
    push_position(L);
    va_list arguments;
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    lua_concat(L, 2);
    return lua_error(L);
}

/* The library ends a message with " [at file:line]"; here that line stands in front. */
static size_t without_place(const char *text)
{
    size_t bytes = strlen(text);
    const char *found = NULL;
    for (const char *at = strstr(text, " [at "); at; at = strstr(at + 1, " [at ")) found = at;
    return found && text[bytes - 1] == ']' ? (size_t)(found - text) : bytes;
}

static void raise_pending(lua_State *L)
{
    layer_push_table(L, TABLE_ERROR);
    lua_rawgeti(L, -1, 1);
    lua_pushnil(L);
    lua_rawseti(L, -3, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 2);
        return;
    }
    lua_rawgeti(L, -1, 1); /* boxed in a table, so that any value but nil can be one */
    lua_error(L);
}

void check_status(lua_State *L, thunder_status *status)
{
    if (!status) return;
    layer *self = layer_of(L);
    thunder_status_release(self->failed);
    self->failed = status;
    raise_pending(L);
    push_position(L);
    const char *text = thunder_status_message(status);
    lua_pushlstring(L, text, without_place(text));
    lua_concat(L, 2);
    self->failed = NULL;
    thunder_status_release(status);
    lua_error(L);
}

/* core.refuse(message) */
static int core_refuse(lua_State *L) { return refuse(L, "%s", luaL_checkstring(L, 1)); }

/* core.place(): "file:line" of the script, or nil. */
static int core_place(lua_State *L)
{
    lua_pushstring(L, script_place(L));
    return 1;
}

void open_errors(lua_State *L)
{
    static const luaL_Reg functions[] = {{"refuse", core_refuse}, {"place", core_place}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
