/* Data: files of arrays, and batches of what they hold. */
#include "lua/layer.h"

static const char *path_check(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TSTRING) refuse(L, "a path was expected, got %s", type_text(L, index));
    return lua_tostring(L, index);
}

static int push_read(lua_State *L, box *made, thunder_tensor *tensor)
{
    made->handle = tensor;
    memory_allocated(L, thunder_tensor_nbytes(tensor));
    return 1;
}

/* core.read_csv(path, dtype or nil) */
static int core_read_csv(lua_State *L)
{
    const char *path = path_check(L, 1);
    const constant *dtype = constant_test(L, 2);
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *tensor = NULL;
    check_status(L, thunder_read_csv(layer_of(L)->context, path, dtype ? dtype->value : 0, &tensor));
    return push_read(L, made, tensor);
}

/* core.batches({tensors}, size, shuffle, drop_last, seed) */
static int core_batches(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    thunder_tensor **tensors = lua_newuserdatauv(L, (size_t)count * sizeof *tensors + 1, 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        tensors[i - 1] = tensor_check(L, -1);
        lua_pop(L, 1);
    }
    if (!lua_isinteger(L, 2)) return refuse(L, "batches: size must be an integer, got %s", type_text(L, 2));
    if (!lua_isinteger(L, 5)) return refuse(L, "batches: seed must be an integer, got %s", type_text(L, 5));
    box *made = box_push(L, BOX_BATCHES);
    thunder_batches *batches = NULL;
    check_status(L, thunder_batches_create(layer_of(L)->context, tensors, (size_t)count, lua_tointeger(L, 2),
                                           lua_toboolean(L, 3), lua_toboolean(L, 4), (uint64_t)lua_tointeger(L, 5),
                                           &batches));
    made->handle = batches;
    return 1;
}

void open_data(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read_csv", core_read_csv},
                                         {"batches", core_batches},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
