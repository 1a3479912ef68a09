/* Tracebacks: where the script stood, without the lines of this layer and of the tool. */
#include <string.h>

#include "lua/layer.h"

/* Finding a level takes as long as the stack is high, so of a high one only the ends are looked at. */
enum { SHOWN = 24, LOOKED_AT = 100 };

static bool is_ours(const lua_Debug *frame) { return strncmp(frame->source, "=thunder.", 9) == 0; }

/* Lines of the script, and the named C functions that they call: an op, a compiled function, pcall. */
static bool is_shown(lua_State *L, int level, lua_Debug *frame)
{
    lua_Debug caller;
    lua_getinfo(L, "Sln", frame);
    if (strcmp(frame->what, "C") != 0) return !is_ours(frame);
    if (!*frame->namewhat || !lua_getstack(L, level + 1, &caller)) return false;
    lua_getinfo(L, "S", &caller);
    return !is_ours(&caller) && strcmp(caller.what, "C") != 0;
}

static int stack_height(lua_State *L)
{
    lua_Debug frame;
    int low = 0, high = 1;
    while (lua_getstack(L, high, &frame)) low = high, high *= 2;
    while (low + 1 < high) {
        const int middle = low + (high - low) / 2;
        if (lua_getstack(L, middle, &frame)) low = middle;
        else high = middle;
    }
    return high;
}

/* The levels that may be shown, from the innermost on; returns how many. */
static int find_levels(lua_State *L, int end, int levels[LOOKED_AT])
{
    lua_Debug frame;
    int count = 0;
    for (int level = 0; level < end; level++) {
        if (end > LOOKED_AT && level == LOOKED_AT / 2) level = end - LOOKED_AT / 2;
        if (lua_getstack(L, level, &frame) && is_shown(L, level, &frame)) levels[count++] = level;
    }
    return count;
}

static void add_frame(luaL_Buffer *buffer, lua_State *L, const lua_Debug *frame)
{
    if (frame->currentline > 0)
        lua_pushfstring(L, "\n\t%s:%d: in ", frame->short_src, frame->currentline);
    else
        lua_pushfstring(L, "\n\t%s: in ", frame->short_src);
    luaL_addvalue(buffer);
    if (*frame->namewhat)
        lua_pushfstring(L, "%s '%s'", frame->namewhat, frame->name);
    else if (strcmp(frame->what, "main") == 0)
        lua_pushliteral(L, "main chunk");
    else
        lua_pushfstring(L, "function <%s:%d>", frame->short_src, frame->linedefined);
    luaL_addvalue(buffer);
}

void traceback_add(lua_State *L, int index)
{
    const char *message = lua_tostring(L, index);
    const bool has_one = strstr(message, "\nstack traceback:") != NULL;
    int levels[LOOKED_AT];
    const int end = has_one ? 0 : stack_height(L), count = find_levels(L, end, levels);
    if (!count) {
        lua_pushvalue(L, index);
        return;
    }
    const bool whole = end <= LOOKED_AT && count <= SHOWN;
    const int first = whole ? count : count < SHOWN ? count / 2 : SHOWN / 2, last = whole ? count : count - first;
    luaL_Buffer buffer;
    lua_Debug frame;
    luaL_buffinit(L, &buffer);
    luaL_addstring(&buffer, message);
    luaL_addstring(&buffer, "\nstack traceback:");
    for (int i = 0; i < count; i++) {
        if (i == first) luaL_addstring(&buffer, "\n\t..."), i = last;
        lua_getstack(L, levels[i], &frame);
        lua_getinfo(L, "Sln", &frame);
        add_frame(&buffer, L, &frame);
    }
    luaL_pushresult(&buffer);
}

/* th.traceback(message): for xpcall. What is no string stays as it is. */
static int public_traceback(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING) traceback_add(L, 1);
    return 1;
}

/* core.called_from_c(): whether who called the function that asks is no line of Lua: `ipairs`, `table.unpack`. */
static int core_called_from_c(lua_State *L)
{
    lua_Debug frame;
    bool from_c = false;
    if (lua_getstack(L, 2, &frame)) {
        lua_getinfo(L, "S", &frame);
        from_c = strcmp(frame.what, "C") == 0;
    }
    lua_pushboolean(L, from_c);
    return 1;
}

void open_traceback(lua_State *L)
{
    static const luaL_Reg functions[] = {{"traceback", public_traceback}, {"called_from_c", core_called_from_c}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
