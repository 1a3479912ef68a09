/* Ops of Lua: the callbacks of the library's descriptor over a table { meta, decompose, vjp, kernel }. */
#include <string.h>

#include "lua/layer.h"

/* Pushes the field of what is registered. */
static void push_field(lua_State *L, const kept *self, const char *name)
{
    kept_push(L, self);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* ---- meta(node) -> types ---- */

typedef struct meta_frame {
    const kept *op;
    const thunder_node *node;
    thunder_types *types;
} meta_frame;

/* A tensor whose type it is, or { dtype = , shape = , device = }. */
static void push_type(lua_State *L, int index, int number, thunder_types *types)
{
    thunder_tensor *like = box_test(L, index, BOX_TENSOR);
    if (like) {
        thunder_types_push_like(types, like);
        return;
    }
    if (!lua_istable(L, index)) luaL_error(L, "result %d must be a tensor like it, or { dtype = , shape = }, got %s", number, type_text(L, index));
    lua_getfield(L, index, "dtype");
    const constant *dtype = constant_test(L, -1);
    lua_getfield(L, index, "device");
    const constant *device = constant_test(L, -1);
    if (!dtype || dtype->kind != THUNDER_DTYPE) luaL_error(L, "result %d has no dtype", number);
    if (lua_getfield(L, index, "shape") != LUA_TTABLE) luaL_error(L, "result %d has no shape", number);
    const lua_Integer rank = (lua_Integer)lua_rawlen(L, -1);
    int64_t *shape = lua_newuserdatauv(L, (size_t)(rank + 1) * sizeof *shape, 0);
    for (lua_Integer i = 1; i <= rank; i++) {
        int exact;
        lua_rawgeti(L, -2, i);
        shape[i - 1] = lua_tointegerx(L, -1, &exact);
        if (!exact) luaL_error(L, "size %I of result %d must be an integer, got %s", i, number, type_text(L, -1));
        lua_pop(L, 1);
    }
    thunder_types_push(types, dtype->value, device ? device->value : 0, (size_t)rank, shape);
    lua_pop(L, 4);
}

static int call_meta(lua_State *L)
{
    const meta_frame *f = lua_touserdata(L, 1);
    push_field(L, f->op, "meta");
    const int first = lua_gettop(L);
    node_push(L, f->node);
    lua_call(L, 1, LUA_MULTRET);
    const int last = lua_gettop(L);
    luaL_checkstack(L, 8, "results");
    for (int i = first; i <= last; i++) push_type(L, i, i - first + 1, f->types);
    return 0;
}

static thunder_status *meta(const thunder_node *node, thunder_types *results, void *user)
{
    meta_frame f = {user, node, results};
    return layer_run(f.op->layer, call_meta, &f, NULL);
}

/* ---- traced functions ---- */

typedef struct traced_frame {
    const kept *op;
    const char *field;
    const thunder_values *in;
    thunder_values *out;
} traced_frame;

static int call_traced(lua_State *L)
{
    const traced_frame *f = lua_touserdata(L, 1);
    push_field(L, f->op, f->field);
    const int first = lua_gettop(L);
    /* Floats are constants of the op's line, not live numbers. */
    lua_call(L, values_push(L, f->in, false), LUA_MULTRET);
    const int last = lua_gettop(L);
    for (int i = first; i <= last; i++) {
        const char *wrong = values_add(L, i, f->out);
        if (wrong) luaL_error(L, "result %d: %s", i - first + 1, wrong);
    }
    return 0;
}

static thunder_status *run_traced(const char *field, thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    traced_frame f = {user, field, in, out};
    return layer_run(f.op->layer, call_traced, &f, scope);
}

static thunder_status *decompose(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return run_traced("decompose", scope, in, out, user);
}

static thunder_status *vjp(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    return run_traced("vjp", scope, in, out, user);
}

/* ---- the kernel ---- */

typedef struct kernel_frame {
    const kept *op;
    const thunder_launch *launch;
    const thunder_any *args;
} kernel_frame;

static int call_kernel(lua_State *L)
{
    const kernel_frame *f = lua_touserdata(L, 1);
    push_field(L, f->op, "kernel");
    kernel_call(L, f->launch, f->args);
    return 0;
}

static thunder_status *run(const thunder_launch *launch, const thunder_any *args, void *user)
{
    kernel_frame f = {user, launch, args};
    return layer_run(f.op->layer, call_kernel, &f, NULL);
}

/* core.add_op(schema, doc, flags, { meta =, decompose =, vjp = }) */
static int core_add_op(lua_State *L)
{
    thunder_op_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.schema = luaL_checkstring(L, 1), d.doc = luaL_checkstring(L, 2), d.flags = (uint32_t)luaL_checkinteger(L, 3);
    lua_settop(L, 4);
    if (lua_getfield(L, 4, "meta") == LUA_TFUNCTION) d.meta = meta;
    if (lua_getfield(L, 4, "decompose") == LUA_TFUNCTION) d.decompose = decompose;
    if (lua_getfield(L, 4, "vjp") == LUA_TFUNCTION) d.vjp = vjp;
    lua_settop(L, 4);
    d.user = registered_create(L), d.destroy = registered_destroy;
    check_status(L, thunder_context_add_op(layer_of(L)->context, &d));
    return 0;
}

/* core.add_cuda_kernel(op, table) */
static int core_add_cuda_kernel(lua_State *L)
{
    thunder_kernel_desc d;
    const char *op = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    cuda_kernel_read(L, 2, &d);
    check_status(L, thunder_context_add_kernel(layer_of(L)->context, op, &d));
    return 0;
}

/* core.add_kernel(op, { kernel = plan }) or core.add_kernel(op, library, symbol) */
static int core_add_kernel(lua_State *L)
{
    thunder_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    const char *op = luaL_checkstring(L, 1);
    if (lua_istable(L, 2)) {
        lua_settop(L, 2);
        d.run = run, d.user = registered_create(L), d.destroy = registered_destroy;
    } else {
        d.library = luaL_checkstring(L, 2), d.symbol = luaL_checkstring(L, 3);
    }
    check_status(L, thunder_context_add_kernel(layer_of(L)->context, op, &d));
    return 0;
}

/* core.type_text(value): "a tensor", "a string" ... */
static int core_type_text(lua_State *L)
{
    lua_pushstring(L, type_text(L, 1));
    return 1;
}

/* core.restricted: what a restricted script may not do is taken away in Lua. */
void open_extend(lua_State *L)
{
    static const luaL_Reg functions[] = {{"add_op", core_add_op}, {"add_kernel", core_add_kernel},
                                         {"add_cuda_kernel", core_add_cuda_kernel}, {"type_text", core_type_text}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    const limits *limits = layer_of(L)->limits;
    lua_pushboolean(L, limits && limits->restricted);
    lua_setfield(L, -2, "restricted");
}
