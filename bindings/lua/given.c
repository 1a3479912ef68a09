/* Arguments of functions that are no more than a call. */
#include "lua/described.h"

const char *text_given(lua_State *L, int index, const char *what)
{
    if (lua_type(L, index) != LUA_TSTRING) refuse(L, "%s must be a text, got %s", what, type_text(L, index));
    return lua_tostring(L, index);
}

size_t count_given(lua_State *L, int index, const char *what)
{
    if (!lua_isinteger(L, index) || lua_tointeger(L, index) < 0)
        refuse(L, "%s must be an integer from 0 on, got %s", what, luaL_tolstring(L, index, NULL));
    return (size_t)lua_tointeger(L, index);
}

thunder_values *values_given(lua_State *L, int index, const char *what)
{
    thunder_values *made = values_box(L);
    const char *wrong = values_add(L, index, made);
    if (wrong) refuse(L, "%s: %s", what, wrong);
    return made;
}

void names_push(lua_State *L, const char *const *names)
{
    lua_newtable(L);
    for (lua_Integer i = 0; names[i]; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
}
