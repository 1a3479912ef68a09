/* Tables of names and values as the library's options, which judge them. */
#include <string.h>

#include "lua/layer.h"

/* An executor, a pass or a function for this compile alone; false: it is none. */
static bool add_object(lua_State *L, int index, thunder_options *options, const char *name)
{
    thunder_executor *executor = box_test(L, index, BOX_EXECUTOR);
    thunder_pass *pass = box_test(L, index, BOX_PASS);
    thunder_function *function = box_test(L, index, BOX_COMPILED); /* what it compiles */
    if (executor && strcmp(name, "executors") == 0)
        thunder_options_add_executor(options, executor);
    else if (pass && strcmp(name, "passes") == 0)
        thunder_options_add_pass(options, pass);
    else if (function)
        thunder_options_set_function(options, name, function);
    else
        return false;
    return true;
}

static void set_option(lua_State *L, thunder_options *options, const char *name)
{
    switch (lua_type(L, -1)) {
        case LUA_TBOOLEAN: thunder_options_set_bool(options, name, lua_toboolean(L, -1)); return;
        case LUA_TSTRING: thunder_options_set_str(options, name, lua_tostring(L, -1)); return;
        case LUA_TNUMBER:
            if (lua_isinteger(L, -1))
                thunder_options_set_i64(options, name, lua_tointeger(L, -1));
            else
                thunder_options_set_f64(options, name, lua_tonumber(L, -1));
            return;
        default:
            if (!add_object(L, lua_gettop(L), options, name)) refuse(L, "option '%s' cannot be %s", name, type_text(L, -1));
    }
}

static void set_numbers(lua_State *L, thunder_options *options, const char *name, int list)
{
    const lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    double *numbers = lua_newuserdatauv(L, (size_t)count * sizeof *numbers, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, list, i) != LUA_TNUMBER) refuse(L, "option '%s': its list must hold numbers", name);
        numbers[i - 1] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    const thunder_any any = {.kind = THUNDER_FLOATS, .count = (uint32_t)count, .u.fs = numbers};
    thunder_options_set(options, name, &any);
    lua_pop(L, 1);
}

/* The list on top: numbers, or names as in {"mine", "host"}, which is written "mine,host"; executors and passes too. */
static void set_list(lua_State *L, thunder_options *options, const char *name)
{
    const int list = lua_gettop(L);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    const int first = lua_rawgeti(L, list, 1);
    lua_pop(L, 1);
    if (first == LUA_TNUMBER) {
        set_numbers(L, options, name, list);
        return;
    }
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    bool names = count == 0 && strcmp(name, "passes") != 0;
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, list, i);
        if (add_object(L, lua_gettop(L), options, name)) {
            lua_pop(L, 1);
            continue;
        }
        if (lua_type(L, -1) != LUA_TSTRING) refuse(L, "option '%s': its list must hold names, got %s", name, type_text(L, -1));
        luaL_addvalue(&buffer);
        luaL_addchar(&buffer, ',');
        names = true;
    }
    luaL_pushresult(&buffer);
    if (names) thunder_options_set_str(options, name, lua_tostring(L, -1));
    lua_pop(L, 1);
}

thunder_options *options_check(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (lua_isnoneornil(L, index)) return NULL;
    if (!lua_istable(L, index)) refuse(L, "options are a table of names and values, not %s", type_text(L, index));
    box *made = box_push(L, BOX_OPTIONS);
    thunder_options *options = NULL;
    check_status(L, thunder_options_create(layer_of(L)->context, &options));
    made->handle = options;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_type(L, -2) != LUA_TSTRING) refuse(L, "options are a table of names and values");
        const char *name = lua_tostring(L, -2);
        if (lua_istable(L, -1))
            set_list(L, options, name);
        else
            set_option(L, options, name);
        lua_pop(L, 1);
    }
    return options;
}
