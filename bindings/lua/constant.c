/* Constants: dtypes and devices, one userdata for each value, so that == compares them. */
#include <string.h>

#include "lua/layer.h"

static const struct {
    const char *name, *shorter;
    thunder_dtype dtype;
} dtypes[] = {
    {"bool", "bool", THUNDER_BOOL},     {"uint8", "u8", THUNDER_U8},        {"int8", "i8", THUNDER_I8},
    {"uint16", "u16", THUNDER_U16},     {"int16", "i16", THUNDER_I16},      {"uint32", "u32", THUNDER_U32},
    {"int32", "i32", THUNDER_I32},      {"uint64", "u64", THUNDER_U64},     {"int64", "i64", THUNDER_I64},
    {"bfloat16", "bf16", THUNDER_BF16}, {"float16", "f16", THUNDER_F16},    {"float32", "f32", THUNDER_F32},
    {"float64", "f64", THUNDER_F64},
};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

const char *dtype_name(thunder_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return "unknown";
}

void constant_push(lua_State *L, thunder_kind kind, int32_t value)
{
    layer_push_table(L, TABLE_CONSTANTS);
    const lua_Integer key = (lua_Integer)kind << 32 | (uint32_t)value;
    if (lua_rawgeti(L, -1, key) == LUA_TNIL) {
        lua_pop(L, 1);
        constant *made = lua_newuserdatauv(L, sizeof *made, 0);
        made->kind = kind;
        made->value = value;
        luaL_setmetatable(L, box_name(BOX_CONSTANT));
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, key);
    }
    lua_remove(L, -2);
}

const constant *constant_test(lua_State *L, int index) { return luaL_testudata(L, index, box_name(BOX_CONSTANT)); }

static int constant_tostring(lua_State *L)
{
    const constant *self = userdata_check(L, 1, BOX_CONSTANT);
    if (self->kind == THUNDER_DTYPE)
        lua_pushstring(L, dtype_name(self->value));
    else if (self->value == THUNDER_CPU)
        lua_pushliteral(L, "cpu");
    else if (self->value >> 16 == 2)
        lua_pushfstring(L, "cuda:%d", self->value & 0xffff);
    else
        lua_pushfstring(L, "device(%d, %d)", self->value >> 16, self->value & 0xffff);
    return 1;
}

/* core.device(kind, index), DLPack's numbers */
static int core_device(lua_State *L)
{
    const lua_Integer kind = luaL_checkinteger(L, 1), index = luaL_optinteger(L, 2, 0);
    if (kind < 1 || kind > 0x7fff || index < 0 || index > 0xffff) return refuse(L, "there is no such device");
    constant_push(L, THUNDER_DEVICE, (int32_t)(kind << 16 | index));
    return 1;
}

/* The table of dtypes by name, long and short. */
static void push_dtypes(lua_State *L)
{
    lua_createtable(L, 0, 2 * DTYPES);
    for (int i = 0; i < DTYPES; i++) {
        constant_push(L, THUNDER_DTYPE, dtypes[i].dtype);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, dtypes[i].shorter);
        lua_setfield(L, -2, dtypes[i].name);
    }
}

void open_constant(lua_State *L)
{
    luaL_getmetatable(L, box_name(BOX_CONSTANT));
    lua_pushcfunction(L, constant_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
    push_dtypes(L);
    lua_setfield(L, -2, "dtypes");
    lua_pushcfunction(L, core_device);
    lua_setfield(L, -2, "device");
}
