/* Elements of tensors as nested Lua tables, and back. */
#include <math.h>
#include <string.h>

#include "lua/layer.h"

enum { MAX_RANK = 64 };

/* ---- from tables ---- */

typedef struct filling {
    thunder_dtype dtype;
    size_t rank;
    int64_t shape[MAX_RANK];
    char *next; /* where the next element goes; NULL while the shape is being measured */
} filling;

static size_t element_size(thunder_dtype dtype) { return (size_t)((dtype & 0xff) + 7) / 8; }

/* The shape along first elements. */
static void read_shape(lua_State *L, int index, filling *f)
{
    lua_pushvalue(L, index);
    while (lua_istable(L, -1)) {
        if (f->rank == MAX_RANK) refuse(L, "tensor: the table is nested deeper than %d; does it contain itself?", MAX_RANK);
        f->shape[f->rank++] = (int64_t)lua_rawlen(L, -1);
        if (lua_rawgeti(L, -1, 1) == LUA_TNIL) break;
        lua_remove(L, -2);
    }
    lua_settop(L, index);
}

/* The first of bool, integer and float that can hold every element. */
enum number_kind { OF_NOTHING, OF_BOOLEANS, OF_INTEGERS, OF_FLOATS };

/* Also checks that the nested lists are rectangular. */
static enum number_kind kind_of(lua_State *L, int index, const filling *f, size_t depth)
{
    luaL_checkstack(L, 3, "nested tables");
    if (depth == f->rank) return lua_isboolean(L, index) ? OF_BOOLEANS : lua_isinteger(L, index) ? OF_INTEGERS : OF_FLOATS;
    if (!lua_istable(L, index))
        refuse(L, "tensor: the lists are not those of one shape: %s stands where a list of %d is expected", type_text(L, index),
               (int)f->shape[depth]);
    const int64_t count = (int64_t)lua_rawlen(L, index);
    if (count != f->shape[depth])
        refuse(L, "tensor: the lists are not those of one shape: a list of %d stands where a list of %d is expected", (int)count,
               (int)f->shape[depth]);
    enum number_kind found = OF_NOTHING;
    for (int64_t i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        const enum number_kind one = kind_of(L, lua_gettop(L), f, depth + 1);
        if (one > found) found = one;
        lua_pop(L, 1);
    }
    return found;
}

static void store_integer(lua_State *L, int index, filling *f)
{
    int exact;
    const lua_Integer value = lua_isboolean(L, index) ? (exact = 1, lua_toboolean(L, index)) : lua_tointegerx(L, index, &exact);
    const int bits = f->dtype & 0xff;
    const bool is_signed = f->dtype >> 8 == 0, is_bool = f->dtype == THUNDER_BOOL;
    if (!exact) refuse(L, "tensor: an element of %s must be an integer, got %s", dtype_name(f->dtype), type_text(L, index));
    /* Lua's integers cover the lower half of u64; for other unsigned dtypes -1 sets all bits, as in PyTorch. */
    const int64_t high = is_bool ? 1 : bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed)) - 1;
    const int64_t low = is_signed ? -high - 1 : is_bool || bits == 64 ? 0 : -high;
    if (value < low || value > high) refuse(L, "tensor: %I does not fit %s", value, dtype_name(f->dtype));
    if (bits == 8) *(uint8_t *)f->next = (uint8_t)value;
    if (bits == 16) memcpy(f->next, &(int16_t){(int16_t)value}, 2);
    if (bits == 32) memcpy(f->next, &(int32_t){(int32_t)value}, 4);
    if (bits == 64) memcpy(f->next, &(int64_t){value}, 8);
}

static void store(lua_State *L, int index, filling *f)
{
    if (f->dtype == THUNDER_F32 || f->dtype == THUNDER_F64) {
        int is_number;
        double value = lua_isboolean(L, index) ? (is_number = 1, lua_toboolean(L, index)) : lua_tonumberx(L, index, &is_number);
        if (!is_number || lua_type(L, index) == LUA_TSTRING)
            refuse(L, "tensor: an element must be a number or a boolean, got %s", type_text(L, index));
        if (f->dtype == THUNDER_F32)
            memcpy(f->next, &(float){(float)value}, 4);
        else
            memcpy(f->next, &value, 8);
    } else if (lua_type(L, index) == LUA_TSTRING) {
        refuse(L, "tensor: an element must be a number or a boolean, got a string");
    } else {
        store_integer(L, index, f);
    }
    f->next += element_size(f->dtype);
}

static void fill(lua_State *L, int index, filling *f, size_t depth)
{
    if (depth == f->rank) {
        store(L, index, f);
        return;
    }
    for (int64_t i = 1; i <= f->shape[depth]; i++) {
        lua_rawgeti(L, index, i);
        fill(L, lua_gettop(L), f, depth + 1);
        lua_pop(L, 1);
    }
}

/* core.tensor(data, dtype or nil): data is a number, a boolean or nested lists of them. Not of a 16-bit
 * real dtype. */
static int core_tensor(lua_State *L)
{
    const constant *dtype = constant_test(L, 2);
    filling f = {.dtype = dtype ? dtype->value : 0};
    lua_settop(L, 2);
    lua_insert(L, 1); /* the data on top, where it is walked */
    read_shape(L, 2, &f);
    static const thunder_dtype defaults[] = {THUNDER_F32, THUNDER_BOOL, THUNDER_I64, THUNDER_F32};
    const enum number_kind kind = kind_of(L, 2, &f, 0);
    if (!dtype) f.dtype = defaults[kind];
    size_t bytes = element_size(f.dtype);
    for (size_t i = 0; i < f.rank; i++)
        if (__builtin_mul_overflow(bytes, (size_t)f.shape[i], &bytes)) return refuse(L, "tensor: the shape is too large");
    char *data = lua_newuserdatauv(L, bytes ? bytes : 1, 0);
    f.next = data;
    lua_pushvalue(L, 2);
    fill(L, lua_gettop(L), &f, 0);
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *tensor = NULL;
    check_status(L, thunder_tensor_create(layer_of(L)->context, f.dtype, f.rank, f.shape, 0, data, bytes, &tensor));
    made->handle = tensor;
    layer_note_made(layer_of(L));
    memory_allocated(L, bytes);
    return 1;
}

/* ---- to tables ---- */

/* IEEE binary16. */
static double half_number(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                             : exponent ? ldexp(1024 + fraction, exponent - 25)
                                        : ldexp(fraction, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static void push_element(lua_State *L, thunder_dtype dtype, const char *at)
{
    switch (dtype) {
        case THUNDER_BOOL: lua_pushboolean(L, *at); return;
        case THUNDER_U8: lua_pushinteger(L, *(const uint8_t *)at); return;
        case THUNDER_I8: lua_pushinteger(L, *(const int8_t *)at); return;
        case THUNDER_U16: { uint16_t v; memcpy(&v, at, 2); lua_pushinteger(L, v); return; }
        case THUNDER_I16: { int16_t v; memcpy(&v, at, 2); lua_pushinteger(L, v); return; }
        case THUNDER_U32: { uint32_t v; memcpy(&v, at, 4); lua_pushinteger(L, v); return; }
        case THUNDER_I32: { int32_t v; memcpy(&v, at, 4); lua_pushinteger(L, v); return; }
        case THUNDER_I64: { int64_t v; memcpy(&v, at, 8); lua_pushinteger(L, v); return; }
        /* A number too large for Lua's integers becomes a float, as in Lua's own literals. */
        case THUNDER_U64: {
            uint64_t v;
            memcpy(&v, at, 8);
            if (v > INT64_MAX) lua_pushnumber(L, (double)v);
            else lua_pushinteger(L, (lua_Integer)v);
            return;
        }
        case THUNDER_F16: { uint16_t v; memcpy(&v, at, 2); lua_pushnumber(L, half_number(v)); return; }
        case THUNDER_F32: { float v; memcpy(&v, at, 4); lua_pushnumber(L, (double)v); return; }
        case THUNDER_F64: { double v; memcpy(&v, at, 8); lua_pushnumber(L, v); return; }
        case THUNDER_BF16: {
            uint16_t half;
            memcpy(&half, at, 2);
            const uint32_t bits = (uint32_t)half << 16;
            float v;
            memcpy(&v, &bits, 4);
            lua_pushnumber(L, (double)v);
            return;
        }
        default: lua_pushnil(L);
    }
}

static const char *push_list(lua_State *L, const thunder_tensor *tensor, size_t depth, const char *at)
{
    const thunder_dtype dtype = thunder_tensor_dtype(tensor);
    if (depth == thunder_tensor_rank(tensor)) {
        push_element(L, dtype, at);
        return at + element_size(dtype);
    }
    luaL_checkstack(L, 3, "nested tables");
    const int64_t count = thunder_tensor_shape(tensor)[depth];
    lua_createtable(L, count > INT32_MAX ? INT32_MAX : (int)count, 0);
    for (int64_t i = 1; i <= count; i++) {
        at = push_list(L, tensor, depth + 1, at);
        lua_rawseti(L, -2, i);
    }
    return at;
}

static const char *read_all(lua_State *L, thunder_tensor *tensor)
{
    check_status(L, thunder_tensor_status(tensor));
    tensor_materialize(L, tensor);
    const size_t bytes = thunder_tensor_nbytes(tensor);
    char *data = lua_newuserdatauv(L, bytes ? bytes : 1, 0);
    check_status(L, thunder_tensor_read(tensor, data, bytes));
    return data;
}

/* core.tolist(t): nested lists; of a 0-d tensor its number. */
static int core_tolist(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    push_list(L, tensor, 0, read_all(L, tensor));
    return 1;
}

/* core.item(t): the one element. */
static int core_item(lua_State *L)
{
    thunder_tensor *tensor = tensor_check(L, 1);
    tensor_materialize(L, tensor);
    const size_t size = element_size(thunder_tensor_dtype(tensor)), bytes = thunder_tensor_nbytes(tensor);
    if (thunder_tensor_is_concrete(tensor) && bytes != size)
        return refuse(L, "item: only a tensor of one element is a number; this one has %d", (int)(bytes / size));
    push_element(L, thunder_tensor_dtype(tensor), read_all(L, tensor));
    return 1;
}

void open_elements(lua_State *L)
{
    static const luaL_Reg functions[] = {{"tensor", core_tensor}, {"tolist", core_tolist}, {"item", core_item}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
