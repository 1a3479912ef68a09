/* Integers that stand for any: in a function compiled with symbols = true the sizes of a tensor, and integers that vary, are objects that
 * keep their formula. */
#include "lua/layer.h"

typedef struct size {
    thunder_dim word;
} size;

void size_push(lua_State *L, thunder_dim dim)
{
    if (!thunder_dim_is_symbolic(dim)) {
        lua_pushinteger(L, dim);
        return;
    }
    size *made = lua_newuserdatauv(L, sizeof *made, 0);
    made->word = dim;
    layer_of(L)->sizes_given = true;
    luaL_setmetatable(L, box_name(BOX_SIZE));
}

/* A word is a number to all scopes but that which traces. */
static thunder_scope *scope_of_sizes(lua_State *L)
{
    thunder_scope *scope = layer_of(L)->scope;
    if (!scope || !thunder_scope_is_tracing(scope))
        refuse(L, "a size of a function that was traced is used after that: let the function give size:value()");
    return scope;
}

bool size_test(lua_State *L, int index, thunder_dim *out)
{
    const size *found = luaL_testudata(L, index, box_name(BOX_SIZE));
    if (!found) return false;
    scope_of_sizes(L);
    *out = found->word;
    return true;
}

bool size_or_integer(lua_State *L, int index, thunder_dim *out)
{
    int exact = 1;
    if (!size_test(L, index, out)) *out = lua_tointegerx(L, index, &exact);
    return exact;
}

/* The scope that both belong to, and the numbers or words at 1 and 2. */
static thunder_scope *read_operands(lua_State *L, const char *operation, thunder_dim *a, thunder_dim *b)
{
    thunder_scope *scope = scope_of_sizes(L);
    if (!size_or_integer(L, 1, a) || !size_or_integer(L, 2, b))
        refuse(L, "%s of a size takes integers and sizes, got %s", operation, type_text(L, lua_isinteger(L, 1) || size_test(L, 1, a) ? 2 : 1));
    return scope;
}

/* The number that was seen: from here on the trace is for this one alone. */
static lua_Integer read_size(lua_State *L, int index)
{
    layer *self = layer_of(L);
    thunder_dim word;
    scope_of_sizes(L);
    if (!size_or_integer(L, index, &word)) refuse(L, "a size was expected, got %s", type_text(L, index));
    const int64_t seen = thunder_dim_value(self->scope, word);
    scope_check(L, self, self->scope);
    return seen;
}

static int make_size(lua_State *L, char operation)
{
    thunder_dim a, b;
    const char name[] = {operation, 0};
    thunder_scope *scope = read_operands(L, name, &a, &b);
    const thunder_dim made = thunder_dim_make(scope, operation, a, b);
    scope_check(L, layer_of(L), scope);
    size_push(L, made);
    return 1;
}

static int compare_sizes(lua_State *L, const char *comparison)
{
    thunder_dim a, b;
    thunder_scope *scope = read_operands(L, comparison, &a, &b);
    const int32_t holds = thunder_dim_compare(scope, a, comparison, b);
    scope_check(L, layer_of(L), scope);
    lua_pushboolean(L, holds);
    return 1;
}

/* Operations whose result is no integer, and concatenation, use the number that was seen. */
static int compute_as_numbers(lua_State *L, int operation)
{
    for (int i = 1; i <= 2; i++) {
        thunder_dim word;
        if (size_test(L, i, &word))
            lua_pushinteger(L, read_size(L, i));
        else
            lua_pushvalue(L, i);
    }
    lua_arith(L, operation);
    return 1;
}

/* With a tensor beside it the tensor's own metamethod does it. */
static bool call_tensor_metamethod(lua_State *L, const char *metamethod)
{
    for (int i = 1; i <= 2; i++) {
        if (!luaL_testudata(L, i, box_name(BOX_TENSOR)) || luaL_getmetafield(L, i, metamethod) == LUA_TNIL) continue;
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_call(L, 2, 1);
        return true;
    }
    return false;
}

static int size_add(lua_State *L) { return call_tensor_metamethod(L, "__add") ? 1 : make_size(L, '+'); }
static int size_sub(lua_State *L) { return call_tensor_metamethod(L, "__sub") ? 1 : make_size(L, '-'); }
static int size_mul(lua_State *L) { return call_tensor_metamethod(L, "__mul") ? 1 : make_size(L, '*'); }
static int size_idiv(lua_State *L) { return call_tensor_metamethod(L, "__idiv") ? 1 : make_size(L, '/'); }
static int size_mod(lua_State *L) { return call_tensor_metamethod(L, "__mod") ? 1 : make_size(L, '%'); }
static int size_div(lua_State *L) { return call_tensor_metamethod(L, "__div") ? 1 : compute_as_numbers(L, LUA_OPDIV); }
static int size_pow(lua_State *L) { return call_tensor_metamethod(L, "__pow") ? 1 : compute_as_numbers(L, LUA_OPPOW); }
static int size_unm(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_insert(L, 1);
    return make_size(L, '-');
}
static int size_eq(lua_State *L) { return compare_sizes(L, "=="); }
static int size_lt(lua_State *L) { return compare_sizes(L, "<"); }
static int size_le(lua_State *L) { return compare_sizes(L, "<="); }
static int size_value(lua_State *L)
{
    lua_pushinteger(L, read_size(L, 1));
    return 1;
}
static int size_tostring(lua_State *L)
{
    lua_pushfstring(L, "%I", read_size(L, 1));
    return 1;
}
static int size_concat(lua_State *L)
{
    for (int i = 1; i <= 2; i++) {
        luaL_tolstring(L, i, NULL);
        lua_replace(L, i);
    }
    lua_concat(L, 2);
    return 1;
}
static int core_is_size(lua_State *L)
{
    lua_pushboolean(L, luaL_testudata(L, 1, box_name(BOX_SIZE)) != NULL);
    return 1;
}

void open_sizes(lua_State *L)
{
    static const luaL_Reg metamethods[] = {{"__add", size_add}, {"__sub", size_sub}, {"__mul", size_mul}, {"__idiv", size_idiv},
                                           {"__mod", size_mod}, {"__div", size_div}, {"__pow", size_pow}, {"__unm", size_unm},
                                           {"__eq", size_eq}, {"__lt", size_lt}, {"__le", size_le}, {"__tostring", size_tostring},
                                           {"__concat", size_concat}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"eq", size_eq}, {"value", size_value}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"is_size", core_is_size}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    luaL_getmetatable(L, box_name(BOX_SIZE));
    luaL_setfuncs(L, metamethods, 0);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
