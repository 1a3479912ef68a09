/* Nested Lua tables as the library's trees of leaves, and back. */
#include <string.h>

#include "lua/layer.h"

enum { MAX_DEPTH = 100 };

static void create_values(lua_State *L, thunder_values **out)
{
    check_status(L, thunder_values_create(layer_of(L)->context, out));
}

thunder_values *values_box(lua_State *L)
{
    box *made = box_push(L, BOX_VALUES);
    thunder_values *values = NULL;
    create_values(L, &values);
    made->handle = values;
    return values;
}

/* ---- from Lua ---- */

static const char *add(lua_State *L, int index, thunder_values *values, int depth);

static const char *add_userdata(lua_State *L, int index, thunder_values *values)
{
    thunder_tensor *tensor = box_test(L, index, BOX_TENSOR);
    if (tensor) {
        thunder_values_push_tensor(values, tensor);
        return NULL;
    }
    thunder_dim word;
    if (size_test(L, index, &word)) { /* a result, or an argument of a function inside: the number that was seen */
        const thunder_any number = {.kind = THUNDER_INT, .u.i = thunder_dim_value(layer_of(L)->scope, word)};
        thunder_values_push(values, &number);
        return NULL;
    }
    const constant *c = constant_test(L, index);
    if (!c) return lua_pushfstring(L, "%s cannot be an argument or a result of a function", type_text(L, index));
    const thunder_any leaf = {.kind = c->kind, .u.i = c->value};
    thunder_values_push(values, &leaf);
    return NULL;
}

static const char *add_list(lua_State *L, int index, thunder_values *values, int depth)
{
    thunder_values_open(values, 0, NULL);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        const char *wrong = add(L, lua_gettop(L), values, depth);
        if (wrong) return wrong;
        lua_pop(L, 1);
    }
    thunder_values_close(values);
    return NULL;
}

static const char *add_map(lua_State *L, int index, thunder_values *values, int depth)
{
    thunder_values_open(values, 1, NULL);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            return lua_pushfstring(L, "a table mixes names with %s as a key", type_text(L, -2));
        size_t bytes;
        const char *key = lua_tolstring(L, -2, &bytes);
        if (strlen(key) != bytes) return "a name in a table holds a zero byte";
        thunder_values_key(values, key);
        const char *wrong = add(L, lua_gettop(L), values, depth);
        if (wrong) return wrong;
        lua_pop(L, 1);
    }
    thunder_values_close(values);
    return NULL;
}

static const char *add_table(lua_State *L, int index, thunder_values *values, int depth)
{
    if (depth == MAX_DEPTH) return "tables are nested deeper than 100; does one contain itself?";
    if (!lua_checkstack(L, 8)) return "tables are nested too deep";
    lua_pushnil(L);
    bool has_names = false;
    lua_Integer positions = 0;
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_isinteger(L, -1))
            positions++;
        else
            has_names = true;
    }
    if (!has_names) {
        if (positions != (lua_Integer)lua_rawlen(L, index)) return "a list has holes";
        return add_list(L, index, values, depth + 1);
    }
    return add_map(L, index, values, depth + 1);
}

static const char *add(lua_State *L, int index, thunder_values *values, int depth)
{
    thunder_any leaf = {.kind = THUNDER_NONE, .u.i = 0};
    size_t bytes;
    switch (lua_type(L, index)) {
        case LUA_TNIL: break;
        case LUA_TBOOLEAN: leaf.kind = THUNDER_BOOLEAN, leaf.u.i = lua_toboolean(L, index); break;
        case LUA_TNUMBER:
            if (lua_isinteger(L, index))
                leaf.kind = THUNDER_INT, leaf.u.i = lua_tointeger(L, index);
            else
                leaf.kind = THUNDER_FLOAT, leaf.u.f = lua_tonumber(L, index);
            break;
        case LUA_TSTRING:
            leaf.kind = THUNDER_STRING, leaf.u.s = lua_tolstring(L, index, &bytes);
            if (bytes > UINT32_MAX) return "a string is too long";
            leaf.count = (uint32_t)bytes;
            break;
        case LUA_TTABLE: return add_table(L, index, values, depth);
        default: return add_userdata(L, index, values);
    }
    thunder_values_push(values, &leaf);
    return NULL;
}

const char *values_add(lua_State *L, int index, thunder_values *values)
{
    if (!lua_checkstack(L, 8)) return "tables are nested too deep";
    return add(L, lua_absindex(L, index), values, 0);
}

void values_add_all(lua_State *L, int first, thunder_values *values)
{
    const int last = lua_gettop(L);
    for (int i = first; i <= last; i++) {
        const char *wrong = values_add(L, i, values);
        if (wrong) refuse(L, "argument %d: %s", i - first + 1, wrong);
        lua_settop(L, last);
    }
}

/* ---- to Lua ---- */

void any_push(lua_State *L, const thunder_any *any)
{
    switch (any->kind) {
        case THUNDER_TENSOR: tensor_push(L, any->u.t); break;
        case THUNDER_INT: lua_pushinteger(L, any->u.i); break;
        case THUNDER_FLOAT: lua_pushnumber(L, any->u.f); break;
        case THUNDER_BOOLEAN: lua_pushboolean(L, any->u.i != 0); break;
        case THUNDER_STRING: lua_pushlstring(L, any->u.s, any->count); break;
        case THUNDER_DTYPE:
        case THUNDER_DEVICE: constant_push(L, any->kind, (int32_t)any->u.i); break;
        case THUNDER_DIMS:
            lua_createtable(L, (int)any->count, 0);
            for (uint32_t i = 0; i < any->count; i++) {
                lua_pushinteger(L, any->u.d[i]);
                lua_rawseti(L, -2, (lua_Integer)i + 1);
            }
            break;
        case THUNDER_FLOATS:
            lua_createtable(L, (int)any->count, 0);
            for (uint32_t i = 0; i < any->count; i++) {
                lua_pushnumber(L, any->u.fs[i]);
                lua_rawseti(L, -2, (lua_Integer)i + 1);
            }
            break;
        default: lua_pushnil(L);
    }
}

/* In a traced function floats stay live, as tensors; all other numbers are read, and thereby guarded. */
static void push_leaf(lua_State *L, const thunder_values *values, size_t leaf, bool traced)
{
    if (traced && thunder_values_kind(values, leaf) == THUNDER_FLOAT) {
        tensor_push(L, thunder_values_tensor(values, leaf));
        return;
    }
    if (traced && thunder_values_kind(values, leaf) == THUNDER_INT && layer_of(L)->symbols) {
        size_push(L, thunder_values_dim(values, leaf));
        return;
    }
    thunder_any any;
    check_status(L, thunder_values_get(values, leaf, &any));
    any_push(L, &any);
}

/* Pushes the key that begins at `text`, after its quote; returns what follows its closing quote. */
static const char *push_key(lua_State *L, const char *text)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (; *text && *text != '"'; text++) {
        if (*text == '\\' && text[1]) text++;
        luaL_addchar(&buffer, *text);
    }
    luaL_pushresult(&buffer);
    return *text ? text + 1 : text;
}

/* Stores the value on top into the table below it: under the key between them, or at the next position. */
static void store_child(lua_State *L, bool is_map, lua_Integer position)
{
    if (is_map)
        lua_rawset(L, -3);
    else
        lua_rawseti(L, -2, position);
}

int values_push(lua_State *L, const thunder_values *values, bool traced)
{
    struct level {
        bool is_map;
        lua_Integer count;
    } levels[MAX_DEPTH + 1] = {{false, 0}};
    int depth = 0;
    size_t leaf = 0;
    luaL_checkstack(L, 3 * MAX_DEPTH, "nested values");
    for (const char *at = thunder_values_structure(values); *at;) {
        const char c = *at++;
        if (c == '"') {
            at = push_key(L, at);
        } else if (c == '[' || c == '{') {
            if (depth == MAX_DEPTH) refuse(L, "a result is nested deeper than %d", MAX_DEPTH);
            lua_newtable(L);
            levels[++depth] = (struct level){c == '{', 0};
        } else if (c == '*' || c == ']' || c == '}') {
            if (c == '*')
                push_leaf(L, values, leaf++, traced);
            else
                depth--;
            levels[depth].count++;
            if (depth)
                store_child(L, levels[depth].is_map, levels[depth].count);
            else
                luaL_checkstack(L, 3 * MAX_DEPTH, "too many results");
        }
    }
    return (int)levels[0].count;
}

int values_answer(lua_State *L, const thunder_values *out, thunder_status *status)
{
    check_status(L, status);
    return values_push(L, out, false);
}
