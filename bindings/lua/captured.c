/* What a traced function reads beside its arguments: upvalues of the functions that it may call, globals that they name, and what
 * tables and modules hold that are reached from there. Each is a place, compared before a call. */
#include <string.h>

#include "lua/layer.h"

enum { MOST_ENTRIES = 256, MOST_PLACES = 4000, MOST_DEPTH = 5 };
enum { USER_VALUE = 5 }; /* of a compiled function: its places, three values each: what holds it, the key there, what was there */

typedef struct walk {
    lua_State *L;
    int places, seen, depth;
    lua_Integer count;
} walk;

static void walk_value(walk *w, int index);

/* Of the holder at `holder`, the key below the top and the value on top, which stay. nil is no value of a table: NULL stands for it. */
static void add_place(walk *w, int holder)
{
    lua_State *L = w->L;
    if (w->count >= MOST_PLACES) return;
    const int value = lua_gettop(L), key = value - 1;
    const lua_Integer at = 3 * w->count++;
    lua_pushvalue(L, holder);
    lua_rawseti(L, w->places, at + 1);
    lua_pushvalue(L, key);
    lua_rawseti(L, w->places, at + 2);
    if (lua_isnil(L, value))
        lua_pushlightuserdata(L, NULL);
    else
        lua_pushvalue(L, value);
    lua_rawseti(L, w->places, at + 3);
}

typedef struct code {
    char *bytes; /* NULL: they are counted */
    size_t count;
} code;
static int add_bytes(lua_State *L, const void *bytes, size_t count, void *user)
{
    (void)L;
    code *c = user;
    if (c->bytes) memcpy(c->bytes + c->count, bytes, count);
    c->count += count;
    return 0;
}

/* Pushes a block with the code of the function, which begins with its size. */
static code *push_code(lua_State *L, int function)
{
    code size = {NULL, 0};
    lua_pushvalue(L, function);
    if (lua_dump(L, add_bytes, &size, 1)) size.count = 0;
    lua_pop(L, 1);
    code *made = lua_newuserdatauv(L, sizeof *made + size.count + 1, 0);
    *made = (code){(char *)(made + 1), 0};
    lua_pushvalue(L, function);
    if (size.count && lua_dump(L, add_bytes, made, 1)) made->count = 0;
    lua_pop(L, 1);
    return made;
}

static bool code_contains(const code *c, const char *word, size_t count)
{
    for (size_t at = 0; count && at + count <= c->count; at++) {
        const char *found = memchr(c->bytes + at, word[0], c->count - count + 1 - at);
        if (!found) return false;
        at = (size_t)(found - c->bytes);
        if (!memcmp(found, word, count)) return true;
    }
    return false;
}

/* The globals whose names stand in the function's code: more than it reads, never less. */
static void walk_globals(walk *w, int function, int names)
{
    lua_State *L = w->L;
    const code *c = push_code(L, function);
    size_t count;
    lua_pushnil(L);
    while (lua_next(L, names)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &count) : NULL;
        if (name && !lua_iscfunction(L, -1) && code_contains(c, name, count)) {
            add_place(w, names);
            walk_value(w, lua_gettop(L));
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void walk_function(walk *w, int index)
{
    lua_State *L = w->L;
    for (int n = 1;; n++) {
        lua_pushinteger(L, n);
        const char *name = lua_getupvalue(L, index, n);
        if (!name) {
            lua_pop(L, 1);
            return;
        }
        if (!strcmp(name, "_ENV") && lua_istable(L, -1)) {
            walk_globals(w, index, lua_gettop(L));
        } else {
            add_place(w, index);
            walk_value(w, lua_gettop(L));
        }
        lua_pop(L, 2);
    }
}

static lua_Integer count_entries(lua_State *L, int table)
{
    lua_Integer count = 0;
    lua_pushnil(L);
    for (; lua_next(L, table); count++) lua_pop(L, 1);
    return count;
}

/* `counted`: also how many there are, so that a new one is seen. */
static void walk_table(walk *w, int index, bool counted)
{
    lua_State *L = w->L;
    lua_Integer count = 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (count++ < MOST_ENTRIES) {
            add_place(w, index);
            walk_value(w, lua_gettop(L));
        }
        lua_pop(L, 1);
    }
    if (!counted) return;
    lua_pushboolean(L, false);
    lua_pushinteger(L, count);
    add_place(w, index);
    lua_pop(L, 2);
}

static void walk_value(walk *w, int index)
{
    lua_State *L = w->L;
    const int type = lua_type(L, index);
    if (type != LUA_TFUNCTION && type != LUA_TTABLE && type != LUA_TUSERDATA) return;
    luaL_checkstack(L, 16, "captured variables");
    lua_pushvalue(L, index);
    if (lua_rawget(L, w->seen) != LUA_TNIL || w->depth == MOST_DEPTH) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, w->seen);
    w->depth++;
    const bool is_compiled = type == LUA_TUSERDATA && luaL_testudata(L, index, box_name(BOX_COMPILED));
    if (type == LUA_TFUNCTION && !lua_iscfunction(L, index)) walk_function(w, index);
    if (type == LUA_TTABLE) {
        walk_table(w, index, true);
        if (lua_getmetatable(L, index)) { /* where classes have what their objects have not */
            walk_value(w, lua_gettop(L));
            lua_pop(L, 1);
        }
    }
    if (is_compiled || (type == LUA_TUSERDATA && luaL_testudata(L, index, box_name(BOX_MODULE)))) {
        lua_getiuservalue(L, index, 1);
        if (is_compiled)
            walk_value(w, lua_gettop(L));
        else if (lua_istable(L, -1))
            walk_table(w, lua_gettop(L), false); /* members that are not there cannot be read */
        lua_pop(L, 1);
    }
    w->depth--;
}

/* Libraries have no state of the user's: what package.loaded has, and what "thunder" holds. */
static void mark_libraries(walk *w)
{
    lua_State *L = w->L;
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    const int loaded = lua_gettop(L);
    for (int level = 0; level < 2; level++) {
        if (level) lua_getfield(L, loaded, "thunder");
        const int table = lua_gettop(L);
        if (!lua_istable(L, table)) break;
        lua_pushnil(L);
        while (lua_next(L, table)) {
            lua_pushboolean(L, true);
            if (lua_istable(L, -2))
                lua_rawset(L, w->seen);
            else
                lua_pop(L, 2);
        }
    }
    lua_settop(L, loaded - 1);
}

void captured_find(lua_State *L, int compiled)
{
    const int top = lua_gettop(L);
    lua_newtable(L);
    lua_newtable(L);
    walk w = {L, top + 1, top + 2, 0, 0};
    mark_libraries(&w);
    lua_getiuservalue(L, compiled, 1);
    walk_value(&w, lua_gettop(L));
    lua_pushvalue(L, w.places);
    lua_setiuservalue(L, compiled, USER_VALUE);
    lua_settop(L, top);
}

/* Whether the place number `at` holds what it did. */
static bool is_unchanged(lua_State *L, int places, lua_Integer at)
{
    const int top = lua_gettop(L);
    const int type = lua_rawgeti(L, places, at + 1);
    lua_rawgeti(L, places, at + 2);
    lua_rawgeti(L, places, at + 3);
    if (type == LUA_TFUNCTION) {
        lua_getupvalue(L, top + 1, (int)lua_tointeger(L, top + 2));
    } else if (lua_isboolean(L, top + 2) && !lua_toboolean(L, top + 2)) {
        lua_pushinteger(L, count_entries(L, top + 1));
    } else {
        lua_pushvalue(L, top + 2);
        lua_rawget(L, top + 1);
    }
    const bool was_nil = lua_islightuserdata(L, top + 3) && !lua_touserdata(L, top + 3);
    const bool same = was_nil ? lua_isnil(L, top + 4) : lua_rawequal(L, top + 3, top + 4);
    lua_settop(L, top);
    return same;
}

/* What the function itself changed is a count of its traces, or the like: it stays what it was then. */
void captured_drop_changed(lua_State *L, int compiled)
{
    if (lua_getiuservalue(L, compiled, USER_VALUE) == LUA_TTABLE) {
        const int places = lua_gettop(L);
        const lua_Integer count = (lua_Integer)lua_rawlen(L, places) / 3;
        lua_createtable(L, (int)count * 3, 0);
        lua_Integer kept = 0;
        for (lua_Integer i = 0; i < count; i++)
            if (is_unchanged(L, places, 3 * i))
                for (int part = 1; part <= 3; part++) {
                    lua_rawgeti(L, places, 3 * i + part);
                    lua_rawseti(L, places + 1, ++kept);
                }
        lua_setiuservalue(L, compiled, USER_VALUE);
    }
    lua_pop(L, 1);
}

bool captured_changed(lua_State *L, int compiled)
{
    bool changed = false;
    if (lua_getiuservalue(L, compiled, USER_VALUE) == LUA_TTABLE) {
        luaL_checkstack(L, 8, "captured variables");
        const int places = lua_gettop(L);
        const lua_Integer count = (lua_Integer)lua_rawlen(L, places);
        for (lua_Integer at = 0; at < count && !changed; at += 3) changed = !is_unchanged(L, places, at);
        if (changed) {
            lua_pushnil(L);
            lua_setiuservalue(L, compiled, USER_VALUE);
        }
    }
    lua_pop(L, 1);
    return changed;
}
