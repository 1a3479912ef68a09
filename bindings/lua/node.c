/* Lines as tables, and functions of Lua as kernels. */
#include "lua/layer.h"

static void push_tensors(lua_State *L, const thunder_node *node, size_t count, thunder_tensor *(*get)(const thunder_node *, size_t))
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        thunder_tensor *tensor = get(node, i);
        if (tensor)
            tensor_push(L, tensor);
        else
            lua_pushboolean(L, 0); /* an optional one that is absent */
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_values(lua_State *L, const thunder_node *node, size_t count, uint32_t (*get)(const thunder_node *, size_t))
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = get(node, i);
        if (value == UINT32_MAX)
            lua_pushboolean(L, 0);
        else
            lua_pushinteger(L, value);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* Arguments that are no tensors, by name. */
static void push_arguments(lua_State *L, const thunder_node *node)
{
    lua_newtable(L);
    for (size_t i = 0; i < thunder_node_arg_count(node); i++) {
        thunder_any any;
        thunder_status *is_tensor = thunder_node_arg(node, thunder_node_arg_name(node, i), &any);
        thunder_status_release(is_tensor);
        if (is_tensor || any.kind == THUNDER_NONE) continue;
        any_push(L, &any);
        lua_setfield(L, -2, thunder_node_arg_name(node, i));
    }
}

/* Regions hold lines, which hold none. */
static void push_fields(lua_State *L, const thunder_node *node)
{
    luaL_checkstack(L, 8, "lines");
    lua_newtable(L);
    lua_pushstring(L, thunder_node_op(node));
    lua_setfield(L, -2, "op");
    push_tensors(L, node, thunder_node_input_count(node), thunder_node_input);
    lua_setfield(L, -2, "inputs");
    push_tensors(L, node, thunder_node_output_count(node), thunder_node_output);
    lua_setfield(L, -2, "outputs");
    push_values(L, node, thunder_node_input_count(node), thunder_node_input_value);
    lua_setfield(L, -2, "input_values");
    push_values(L, node, thunder_node_output_count(node), thunder_node_output_value);
    lua_setfield(L, -2, "output_values");
    push_arguments(L, node);
    lua_setfield(L, -2, "args");
    lua_pushstring(L, thunder_node_where(node));
    lua_setfield(L, -2, "where");
    lua_pushstring(L, thunder_node_executor(node));
    lua_setfield(L, -2, "executor");
}

void node_push(lua_State *L, const thunder_node *node)
{
    push_fields(L, node);
    const size_t lines = thunder_node_line_count(node);
    if (!lines) return;
    lua_createtable(L, (int)lines, 0);
    for (size_t i = 0; i < lines; i++) {
        push_fields(L, thunder_node_line(node, i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "lines");
}

/* ---- kernels ---- */

static size_t bytes_of(const thunder_buffer *b)
{
    size_t bytes = (size_t)(b->dtype & 0xff) / 8;
    for (int32_t i = 0; i < b->rank; i++) bytes *= (size_t)b->shape[i];
    return bytes;
}

/* A tensor of its own: what a kernel keeps of it outlives the program's memory. */
static void push_input(lua_State *L, const thunder_buffer *b)
{
    if (b->rank < 0) {
        lua_pushnil(L);
        return;
    }
    box *made = box_push(L, BOX_TENSOR);
    thunder_tensor *tensor = NULL;
    check_status(L, thunder_tensor_create(layer_of(L)->context, b->dtype, (size_t)b->rank, b->shape, b->device, b->data,
                                          bytes_of(b), &tensor));
    made->handle = tensor;
    memory_allocated(L, bytes_of(b));
}

static const thunder_buffer *next_input(lua_State *L, const thunder_launch *launch, size_t *next)
{
    if (*next == launch->n_inputs) luaL_error(L, "the call has only %d inputs", (int)launch->n_inputs);
    return &launch->inputs[(*next)++];
}

/* Pushes what the slot on top stands for in its place. */
static void push_slot_value(lua_State *L, const thunder_launch *launch, const thunder_any *args, lua_Integer position, size_t *next)
{
    if (lua_istable(L, -1)) {
        if (args)
            any_push(L, &args[position]);
        else
            lua_rawgeti(L, -1, 1);
    } else {
        const lua_Integer slot = lua_tointeger(L, -1);
        if (slot == 1) {
            push_input(L, next_input(L, launch, next));
        } else {
            lua_newtable(L);
            for (lua_Integer i = 1; i <= -1 - slot; i++) {
                push_input(L, next_input(L, launch, next));
                lua_rawseti(L, -2, i);
            }
        }
    }
    lua_remove(L, -2);
}

static void push_type_text(lua_State *L, thunder_dtype dtype, size_t rank, const int64_t *shape)
{
    lua_pushfstring(L, "%s[", dtype_name(dtype));
    for (size_t i = 0; i < rank; i++) {
        lua_pushfstring(L, i ? ", %I" : "%I", (lua_Integer)shape[i]);
        lua_concat(L, 2);
    }
    lua_pushliteral(L, "]");
    lua_concat(L, 2);
}

static void store(lua_State *L, int index, lua_Integer number, const char *name, const thunder_buffer *out)
{
    thunder_tensor *made = box_test(L, index, BOX_TENSOR);
    if (!made || !thunder_tensor_is_concrete(made))
        luaL_error(L, "%s: result %I of its kernel must be a tensor, got %s", name, number, type_text(L, index));
    const size_t rank = thunder_tensor_rank(made);
    const int64_t *shape = thunder_tensor_shape(made);
    bool same = thunder_tensor_dtype(made) == out->dtype && (int32_t)rank == out->rank;
    for (size_t i = 0; same && i < rank; i++) same = shape[i] == out->shape[i];
    if (!same) {
        push_type_text(L, thunder_tensor_dtype(made), rank, shape);
        push_type_text(L, out->dtype, (size_t)out->rank, out->shape);
        luaL_error(L, "%s: result %I of its kernel is %s, the op's meta says %s", name, number, lua_tostring(L, -2), lua_tostring(L, -1));
    }
    check_status(L, thunder_tensor_read(made, out->data, bytes_of(out)));
}

void kernel_call(lua_State *L, const thunder_launch *launch, const thunder_any *args)
{
    const int plan = lua_gettop(L);
    const lua_Integer slots = (lua_Integer)lua_rawlen(L, plan);
    size_t next = 0;
    luaL_checkstack(L, (int)slots + 16, "arguments");
    lua_getfield(L, plan, "name");
    const char *name = lua_tostring(L, -1);
    lua_getfield(L, plan, "fn");
    const int first = lua_gettop(L);
    for (lua_Integer i = 1; i <= slots; i++) {
        lua_rawgeti(L, plan, i);
        push_slot_value(L, launch, args, i - 1, &next);
    }
    lua_call(L, (int)slots, LUA_MULTRET);
    const lua_Integer got = lua_gettop(L) - first + 1;
    if (got != (lua_Integer)launch->n_outputs)
        luaL_error(L, "%s: its kernel gives %I results, the op has %I", name, got, (lua_Integer)launch->n_outputs);
    for (lua_Integer i = 0; i < got; i++) store(L, first + (int)i, i + 1, name, &launch->outputs[i]);
}
