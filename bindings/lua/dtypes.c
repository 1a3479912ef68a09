/* Properties of element types, and type promotion. */
#include "lua/layer.h"
#include "thunder/any.h"

static thunder_dtype dtype_check(lua_State *L, int index, const char *who)
{
    const constant *given = constant_test(L, index);
    if (!given || given->kind != THUNDER_DTYPE) refuse(L, "%s: a dtype was expected, got %s", who, type_text(L, index));
    return given->value;
}

static void number_field(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void integer_field(lua_State *L, const char *name, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static thunder_dtype_info push_dtype_info(lua_State *L, const char *who)
{
    const thunder_dtype dtype = lua_isnoneornil(L, 1) ? THUNDER_F32 : dtype_check(L, 1, who);
    thunder_dtype_info info = {.size = sizeof info};
    check_status(L, thunder_dtype_describe(dtype, &info));
    lua_createtable(L, 0, 8);
    lua_pushstring(L, dtype_name(dtype));
    lua_setfield(L, -2, "dtype");
    integer_field(L, "bits", info.bits);
    return info;
}

/* th.finfo(dtype): a table of a real dtype's numbers; of float32 without one. */
static int finfo(lua_State *L)
{
    const thunder_dtype_info info = push_dtype_info(L, "finfo");
    if (!info.is_real) return refuse(L, "finfo: takes a real dtype, got %s; iinfo is for integers", info.name);
    number_field(L, "min", info.min), number_field(L, "max", info.max), number_field(L, "eps", info.eps);
    number_field(L, "tiny", info.smallest_normal), number_field(L, "smallest_normal", info.smallest_normal);
    number_field(L, "smallest_subnormal", info.smallest_subnormal), number_field(L, "resolution", info.resolution);
    return 1;
}

/* th.iinfo(dtype): a table of min and max; the max of uint64 is the integer -1, whose bits are those. */
static int iinfo(lua_State *L)
{
    dtype_check(L, 1, "iinfo");
    const thunder_dtype_info info = push_dtype_info(L, "iinfo");
    if (info.is_real) return refuse(L, "iinfo: takes a dtype of integers, got %s; finfo is for it", info.name);
    if (info.integer_max == 1) return refuse(L, "iinfo: takes a dtype of integers, got %s", info.name);
    integer_field(L, "min", info.integer_min), integer_field(L, "max", (lua_Integer)info.integer_max);
    return 1;
}

static int promote_types(lua_State *L)
{
    thunder_dtype made = 0;
    check_status(L, thunder_promote_types(dtype_check(L, 1, "promote_types"), dtype_check(L, 2, "promote_types"), &made));
    constant_push(L, THUNDER_DTYPE, made);
    return 1;
}

static int can_cast(lua_State *L)
{
    lua_pushboolean(L, thunder_can_cast(dtype_check(L, 1, "can_cast"), dtype_check(L, 2, "can_cast")));
    return 1;
}

static thunder_any operand_check(lua_State *L, int index)
{
    if (lua_isboolean(L, index)) return thunder_any_bool(lua_toboolean(L, index));
    if (lua_isinteger(L, index)) return thunder_any_i64(lua_tointeger(L, index));
    if (lua_type(L, index) == LUA_TNUMBER) return thunder_any_f64(lua_tonumber(L, index));
    return thunder_any_tensor(tensor_check(L, index));
}

/* th.result_type(a, b): of two tensors or numbers. */
static int result_type(lua_State *L)
{
    const thunder_any operands[2] = {operand_check(L, 1), operand_check(L, 2)};
    thunder_dtype made = 0;
    check_status(L, thunder_result_type(operands, 2, &made));
    constant_push(L, THUNDER_DTYPE, made);
    return 1;
}

void open_dtypes(lua_State *L)
{
    static const luaL_Reg functions[] = {{"finfo", finfo},         {"iinfo", iinfo},           {"promote_types", promote_types},
                                         {"can_cast", can_cast},   {"result_type", result_type}, {NULL, NULL}};
    lua_createtable(L, 0, 5);
    luaL_setfuncs(L, functions, 0);
    lua_setfield(L, -2, "dtype_functions");
}
