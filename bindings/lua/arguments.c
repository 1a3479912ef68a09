/* Lua arguments as the library's leaves, by a signature: ops and kinds of modules have one. */
#include "lua/arguments.h"

#include <string.h>

static const parameter *parameter_at(const arguments *c, int index)
{
    static const parameter unknown = {"", TAKES_ANY, false};
    return index < c->signature->n_parameters ? &c->signature->parameters[index] : &unknown;
}

static void *new_scratch(lua_State *L, size_t count, size_t size) { return lua_newuserdatauv(L, count * size + 1, 0); }

/* ---- one argument ---- */

/* Kinds of lists: one element from the top of the stack, false if it is none. */
static bool read_tensor(lua_State *L, void *element)
{
    return (*(thunder_tensor **)element = box_test(L, -1, BOX_TENSOR)) != NULL;
}
static bool read_integer(lua_State *L, void *element)
{
    return size_or_integer(L, -1, element);
}
static bool read_float(lua_State *L, void *element)
{
    int is_number;
    *(double *)element = lua_tonumberx(L, -1, &is_number);
    return is_number;
}

static const struct list {
    thunder_kind kind;
    size_t size; /* of an element */
    bool (*read)(lua_State *L, void *element);
    const char *wanted;
} lists[] = {
    [TAKES_TENSORS] = {THUNDER_TENSORS, sizeof(thunder_tensor *), read_tensor, "a tensor"},
    [TAKES_DIMS] = {THUNDER_DIMS, sizeof(thunder_dim), read_integer, "an integer"},
    [TAKES_FLOATS] = {THUNDER_FLOATS, sizeof(double), read_float, "a number"},
};

/* A name that the signature lacks is for the library to judge: what the list's first element says. */
static enum parameter_kind guess_kind(lua_State *L, int index)
{
    const int type = lua_rawgeti(L, index, 1);
    const bool tensor = box_test(L, -1, BOX_TENSOR) != NULL, whole = lua_isinteger(L, -1);
    lua_pop(L, 1);
    return tensor ? TAKES_TENSORS : type == LUA_TNUMBER && !whole ? TAKES_FLOATS : TAKES_DIMS;
}

static void list_argument(lua_State *L, const arguments *c, const parameter *p, const char *name, int index, thunder_any *out)
{
    const enum parameter_kind kind = *p->name ? p->kind : guess_kind(L, index);
    const struct list *list = (size_t)kind < sizeof lists / sizeof *lists ? &lists[kind] : NULL;
    if (!list || !list->read) refuse(L, "%s: argument '%s' takes no table", c->signature->name, name);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    char *elements = new_scratch(L, (size_t)count, list->size);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        if (!list->read(L, elements + (size_t)(i - 1) * list->size))
            refuse(L, "%s: argument '%s': element %I must be %s, got %s", c->signature->name, name, i, list->wanted,
                   type_text(L, -1));
        lua_pop(L, 1);
    }
    out->kind = list->kind, out->count = (uint32_t)count;
    memcpy(&out->u, &elements, sizeof elements); /* whichever pointer it is */
}

/* `name` is for messages. May push scratch memory, which the stack keeps for the call. */
static void argument(lua_State *L, const arguments *c, const parameter *p, const char *name, int index, thunder_any *out)
{
    size_t bytes;
    int exact;
    *out = (thunder_any){.kind = THUNDER_NONE, .u.i = 0};
    switch (lua_type(L, index)) {
        case LUA_TBOOLEAN: out->kind = THUNDER_BOOLEAN, out->u.i = lua_toboolean(L, index); return;
        case LUA_TNUMBER:
            out->u.i = lua_tointegerx(L, index, &exact);
            out->kind = THUNDER_INT;
            /* 4 / 2 is the float 2.0 in Lua; as a size it is an integer. */
            if (lua_isinteger(L, index) || (exact && (p->kind == TAKES_INT || p->kind == TAKES_DIMS))) return;
            out->kind = THUNDER_FLOAT, out->u.f = lua_tonumber(L, index);
            return;
        case LUA_TSTRING:
            out->kind = THUNDER_STRING, out->u.s = lua_tolstring(L, index, &bytes);
            out->count = (uint32_t)bytes;
            return;
        case LUA_TTABLE: list_argument(L, c, p, name, index, out); return;
        default: break;
    }
    thunder_dim word;
    if (size_test(L, index, &word)) {
        out->kind = THUNDER_INT, out->u.i = word;
        return;
    }
    const constant *constant = constant_test(L, index);
    if (constant) {
        out->kind = constant->kind, out->u.i = constant->value;
        return;
    }
    if (!luaL_testudata(L, index, box_name(BOX_TENSOR)))
        refuse(L, "%s: argument '%s' is %s, which is nothing that an op takes", c->signature->name, name, type_text(L, index));
    out->kind = THUNDER_TENSOR, out->u.t = tensor_check(L, index);
}

/* ---- all arguments ---- */

static thunder_any *next_argument(lua_State *L, arguments *c, const char *name)
{
    if (c->count == MAX_ARGUMENTS) refuse(L, "%s: takes no more than %d arguments", c->signature->name, MAX_ARGUMENTS);
    c->names[c->count] = name;
    c->named |= name != NULL;
    return &c->any[c->count++];
}

static bool only_integers(lua_State *L, int first, int last)
{
    thunder_dim word;
    for (int i = first; i <= last; i++)
        if (!lua_isinteger(L, i) && !size_test(L, i, &word)) return false;
    return true;
}

static void read_gathered_dims(lua_State *L, arguments *c, const char *name, int first, int last)
{
    thunder_any *out = next_argument(L, c, name);
    const int count = last - first + 1;
    thunder_dim *dims = new_scratch(L, (size_t)count, sizeof *dims);
    for (int i = 0; i < count; i++) size_or_integer(L, first + i, &dims[i]);
    *out = (thunder_any){.kind = THUNDER_DIMS, .count = (uint32_t)count, .u.d = dims};
}

/* Stack slots first .. last in the schema's order. nil takes the default, and so what follows it is named. */
static void positional(lua_State *L, arguments *c, int first, int last)
{
    bool skipped = false;
    for (int i = first; i <= last; i++) {
        const int position = i - first;
        const parameter *p = parameter_at(c, position);
        if (lua_isnil(L, i)) {
            skipped = true;
            continue;
        }
        const char *name = skipped ? p->name : NULL;
        if (p->gathers && i < last && only_integers(L, i, last)) {
            read_gathered_dims(L, c, name, i, last);
            return;
        }
        argument(L, c, p, position < c->signature->n_parameters ? p->name : lua_pushfstring(L, "%d", position + 1), i,
                 next_argument(L, c, name));
    }
}

/* Names of the table at `index`; its positions were handled before. */
static void keywords(lua_State *L, arguments *c, int index)
{
    static const parameter any = {"", TAKES_ANY, false};
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_type(L, -2) != LUA_TSTRING) {
            lua_pop(L, 1);
            continue;
        }
        const char *name = lua_tostring(L, -2);
        const parameter *p = &any;
        for (int i = 0; i < c->signature->n_parameters; i++)
            if (strcmp(c->signature->parameters[i].name, name) == 0) p = &c->signature->parameters[i];
        const int value = lua_gettop(L);
        luaL_checkstack(L, 8, "arguments");
        argument(L, c, p, name, value, next_argument(L, c, name));
        lua_pushvalue(L, value - 1); /* what was pushed since stays below as the call's memory */
    }
}

enum table_role { IS_LIST, HAS_NAMES, HAS_BOTH };
static enum table_role role_of(lua_State *L, int index)
{
    bool names = false, positions = false;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            names = true;
        else
            positions = true;
    }
    return !names ? IS_LIST : positions ? HAS_BOTH : HAS_NAMES;
}

/* A table with names is arguments by name: the last argument, or the only one, with positional ones inside it. */
void arguments_read(lua_State *L, arguments *c)
{
    luaL_checkstack(L, 2 * MAX_ARGUMENTS, "arguments");
    int last = lua_gettop(L);
    const enum table_role role = last && lua_istable(L, last) ? role_of(L, last) : IS_LIST;
    if (role == IS_LIST) {
        positional(L, c, 1, last);
        return;
    }
    const int table = last;
    if (role == HAS_BOTH) {
        if (last != 1)
            refuse(L, "%s: a table with names and positions must be the only argument", c->signature->name);
        const int count = (int)lua_rawlen(L, table);
        luaL_checkstack(L, count + 8, "arguments");
        for (int i = 1; i <= count; i++) lua_rawgeti(L, table, i);
        positional(L, c, 2, 1 + count);
    } else {
        positional(L, c, 1, last - 1);
    }
    keywords(L, c, table);
}

static enum parameter_kind kind_of(const char *word)
{
    if (strcmp(word, "int") == 0) return TAKES_INT;
    if (strcmp(word, "int[]") == 0) return TAKES_DIMS;
    if (strcmp(word, "float[]") == 0) return TAKES_FLOATS;
    if (strcmp(word, "tensor[]") == 0) return TAKES_TENSORS;
    return TAKES_ANY;
}

static bool takes_numbers(const char *word)
{
    return strncmp(word, "int", 3) == 0 || strncmp(word, "float", 5) == 0 || strncmp(word, "tensor", 6) == 0;
}

void signature_push(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    const lua_Integer count = luaL_len(L, 2);
    if (count > MAX_ARGUMENTS) refuse(L, "%s: too many parameters", name);
    signature *made = lua_newuserdatauv(L, sizeof *made + (size_t)count * sizeof made->parameters[0], 2);
    made->name = name, made->n_parameters = (int)count, made->n_results = (int)luaL_optinteger(L, 4, 1);
    /* The names stay where they are as long as what holds them does. */
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, 2);
    bool numbers_follow = false;
    for (lua_Integer i = count; i >= 1; i--) {
        lua_rawgeti(L, 2, i);
        lua_rawgeti(L, 3, i);
        const char *kind = luaL_checkstring(L, -1);
        const bool gathers = strcmp(kind, "int[]") == 0 && !numbers_follow;
        made->parameters[i - 1] = (parameter){luaL_checkstring(L, -2), kind_of(kind), gathers};
        numbers_follow |= takes_numbers(kind);
        lua_pop(L, 2);
    }
}
