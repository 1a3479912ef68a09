/* Tensors: their boxes and what is known about them without their elements. */
#include "lua/layer.h"

void tensor_push(lua_State *L, thunder_tensor *tensor)
{
    box *made = box_push(L, BOX_TENSOR);
    made->handle = thunder_tensor_retain(tensor);
    if (!thunder_tensor_is_concrete(tensor)) return;
    const size_t bytes = thunder_tensor_nbytes(tensor);
    if (thunder_tensor_device(tensor) == THUNDER_CPU) memory_allocated(L, bytes);
    else memory_allocated_device(L, made, bytes);
}

thunder_tensor *tensor_check(lua_State *L, int index) { return box_check(L, index, BOX_TENSOR); }

/* nil if there is no such dim. */
static void push_size_of(lua_State *L, const thunder_tensor *tensor, int32_t dim)
{
    const layer *self = layer_of(L);
    const thunder_dim size = self->symbols && self->scope ? thunder_tensor_dim(self->scope, tensor, dim) : thunder_tensor_size(tensor, dim);
    if (size == -1)
        lua_pushnil(L);
    else
        size_push(L, size);
}

static int core_shape(lua_State *L)
{
    const thunder_tensor *tensor = tensor_check(L, 1);
    const size_t rank = thunder_tensor_rank(tensor);
    lua_createtable(L, (int)rank, 0);
    for (size_t i = 0; i < rank; i++) {
        push_size_of(L, tensor, (int32_t)i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* core.size(x, dim): of one dim alone, which a traced function then depends on; nil if there is no such dim. */
static int core_size(lua_State *L)
{
    push_size_of(L, tensor_check(L, 1), (int32_t)luaL_checkinteger(L, 2));
    return 1;
}

/* core.nbytes(x): of a traced one as well, which then depends on its sizes. */
static int core_nbytes(lua_State *L)
{
    const thunder_tensor *tensor = tensor_check(L, 1);
    lua_Integer bytes = (lua_Integer)thunder_tensor_nbytes(tensor);
    if (!thunder_tensor_is_concrete(tensor)) {
        bytes = (thunder_tensor_dtype(tensor) & 0xff) / 8;
        for (size_t i = 0; i < thunder_tensor_rank(tensor); i++) bytes *= thunder_tensor_size(tensor, (int32_t)i);
    }
    lua_pushinteger(L, bytes);
    return 1;
}

static int core_is_contiguous(lua_State *L)
{
    const int32_t is_dense = thunder_tensor_is_contiguous(tensor_check(L, 1));
    if (is_dense < 0) return refuse(L, "is_contiguous: this traced tensor has no layout: it is known in compiled functions, not of arguments of rules and passes");
    lua_pushboolean(L, is_dense);
    return 1;
}

thunder_status *tensor_materialized(lua_State *L, thunder_tensor *tensor, int32_t *concrete)
{
    *concrete = thunder_tensor_is_concrete(tensor);
    if (*concrete) return NULL;
    layer *self = layer_of(L);
    const char *where = script_place(L);
    lua_State *running = layer_enter(self, L);
    thunder_status *failed = thunder_tensor_materialize(tensor, where, concrete);
    layer_leave(self, running);
    return failed;
}

bool tensor_materialize(lua_State *L, thunder_tensor *tensor)
{
    int32_t concrete;
    check_status(L, tensor_materialized(L, tensor, &concrete));
    return concrete;
}

/* core.is_concrete(x): whether it has elements; a function that may break computes them now. */
static int core_is_concrete(lua_State *L)
{
    lua_pushboolean(L, tensor_materialize(L, tensor_check(L, 1)));
    return 1;
}

static int core_is_tensor(lua_State *L)
{
    lua_pushboolean(L, luaL_testudata(L, 1, box_name(BOX_TENSOR)) != NULL);
    return 1;
}

/* core.is_real(t): whether a gradient with respect to it makes sense. */
static int core_is_real(lua_State *L)
{
    const thunder_dtype code = thunder_tensor_dtype(tensor_check(L, 1)) >> 8;
    lua_pushboolean(L, code == THUNDER_F32 >> 8 || code == THUNDER_BF16 >> 8);
    return 1;
}

void open_tensor(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"size", core_size}, {"shape", core_shape}, {"nbytes", core_nbytes},
        {"is_contiguous", core_is_contiguous}, {"is_concrete", core_is_concrete},
        {"is_tensor", core_is_tensor}, {"is_real", core_is_real},
        {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
