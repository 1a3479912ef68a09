/* Executors of Lua: the callbacks of the library's descriptor over a table { claim, claim_region, prepare, transform }. */
#include <stdlib.h>
#include <string.h>

#include "lua/layer.h"

/* Claiming cannot fail in the descriptor: an error in it is kept, and fails the next preparation. */
typedef struct executor {
    kept *spec;
    bool registered; /* in the context, by name */
    thunder_status *failed;
} executor;

static void push_field(lua_State *L, const executor *self, const char *name)
{
    kept_push(L, self->spec);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

static void keep_failure(executor *self, thunder_status *status)
{
    if (self->failed)
        thunder_status_release(status);
    else
        self->failed = status;
}

typedef struct claim_frame {
    executor *self;
    const thunder_node *node;        /* of claim */
    const thunder_node *const *nodes; /* of claim_region */
    size_t count;
    uint8_t *taken;
    bool claims;
} claim_frame;

static int call_claim(lua_State *L)
{
    claim_frame *f = lua_touserdata(L, 1);
    push_field(L, f->self, "claim");
    node_push(L, f->node);
    lua_call(L, 1, 1);
    f->claims = lua_toboolean(L, -1);
    return 0;
}

static int32_t claim(const thunder_node *node, void *user)
{
    claim_frame f = {user, node, NULL, 0, NULL, false};
    thunder_status *failed = layer_run(f.self->spec->layer, call_claim, &f, NULL);
    if (!failed) return f.claims;
    keep_failure(f.self, failed);
    return 1; /* so that preparing it reports the error */
}

static int refuse_region(lua_State *L, const claim_frame *f)
{
    const char *given = luaL_tolstring(L, -1, NULL);
    push_field(L, f->self, "who");
    return luaL_error(L, "%s: its claim_region gives '%s'; it must be positions from 1 to %I, as a list", lua_tostring(L, -1), given,
                      (lua_Integer)f->count);
}

/* The function gives the positions, from 1, of the lines that form one region with the first. */
static int call_claim_region(lua_State *L)
{
    claim_frame *f = lua_touserdata(L, 1);
    push_field(L, f->self, "claim_region");
    lua_createtable(L, (int)f->count, 0);
    for (size_t i = 0; i < f->count; i++) {
        node_push(L, f->nodes[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_call(L, 1, 1);
    if (lua_isnoneornil(L, -1)) return 0;
    if (!lua_istable(L, -1)) return refuse_region(L, f);
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        const lua_Integer position = lua_tointeger(L, -1);
        if (position < 1 || position > (lua_Integer)f->count) return refuse_region(L, f);
        f->taken[position - 1] = 1;
        f->claims = true;
        lua_pop(L, 1);
    }
    return 0;
}

static int32_t claim_region(const thunder_node *const *nodes, size_t n, uint8_t *taken, void *user)
{
    claim_frame f = {user, NULL, nodes, n, taken, false};
    thunder_status *failed = layer_run(f.self->spec->layer, call_claim_region, &f, NULL);
    if (!failed) return f.claims;
    keep_failure(f.self, failed);
    return 0;
}

typedef struct prepare_frame {
    executor *self;
    const thunder_node *node;
    kept *plan; /* NULL: declined */
} prepare_frame;

static int call_prepare(lua_State *L)
{
    prepare_frame *f = lua_touserdata(L, 1);
    push_field(L, f->self, "prepare");
    node_push(L, f->node);
    lua_call(L, 1, 1);
    if (!lua_isnoneornil(L, -1)) f->plan = kept_create(L);
    return 0;
}

static thunder_status *prepare(const thunder_node *node, void **out_state, size_t *out_scratch_bytes, void *user)
{
    static const char declined[] = "its prepare gave nothing";
    prepare_frame f = {user, node, NULL};
    thunder_status *failed = f.self->failed;
    f.self->failed = NULL;
    if (!failed) failed = layer_run(f.self->spec->layer, call_prepare, &f, NULL);
    if (failed) return failed;
    if (!f.plan) return thunder_status_create(THUNDER_DECLINED, declined, sizeof declined - 1);
    *out_state = f.plan, *out_scratch_bytes = 0;
    return NULL;
}

typedef struct run_frame {
    const kept *plan;
    const thunder_launch *launch;
} run_frame;

static int call_run(lua_State *L)
{
    const run_frame *f = lua_touserdata(L, 1);
    kept_push(L, f->plan);
    kernel_call(L, f->launch, NULL);
    return 0;
}

static thunder_status *run(const thunder_launch *launch, void *state)
{
    run_frame f = {state, launch};
    return layer_run(f.plan->layer, call_run, &f, NULL);
}

typedef struct transform_frame {
    executor *self;
    const thunder_node *node;
    const thunder_values *in;
    thunder_values *out;
    bool declined;
} transform_frame;

static int call_transform(lua_State *L)
{
    transform_frame *f = lua_touserdata(L, 1);
    push_field(L, f->self, "transform");
    const int first = lua_gettop(L);
    node_push(L, f->node);
    lua_call(L, 1 + values_push(L, f->in, false), LUA_MULTRET);
    const int last = lua_gettop(L);
    f->declined = lua_isnoneornil(L, first);
    for (int i = first; i <= last && !f->declined; i++) {
        const char *wrong = values_add(L, i, f->out);
        if (wrong) luaL_error(L, "result %d: %s", i - first + 1, wrong);
    }
    return 0;
}

static thunder_status *execution_transform(thunder_scope *scope, const thunder_node *node, const thunder_values *in,
                                           thunder_values *out, void *user)
{
    transform_frame f = {user, node, in, out, false};
    thunder_status *failed = layer_run(f.self->spec->layer, call_transform, &f, scope);
    if (!failed && f.declined) failed = thunder_status_create(THUNDER_DECLINED, "", 0);
    return failed;
}

static void destroy(void *user)
{
    executor *self = user;
    thunder_status_release(self->failed);
    if (self->registered)
        registered_destroy(self->spec);
    else
        kept_destroy(self->spec);
    free(self);
}

static bool has(lua_State *L, int spec, const char *name)
{
    const bool is = lua_getfield(L, spec, name) == LUA_TFUNCTION;
    lua_pop(L, 1);
    return is;
}

/* The kernels for CUDA devices of the table at `index`, { { op, kernel } ... }; what they point to stays on the stack. */
static void read_kernels(lua_State *L, int index, thunder_executor_desc *d)
{
    const size_t count = lua_rawlen(L, index);
    if (!count) return;
    thunder_kernel_desc *kernels = lua_newuserdatauv(L, count * sizeof *kernels, 0);
    const thunder_kernel_desc **descs = lua_newuserdatauv(L, count * sizeof *descs, 0);
    const char **ops = lua_newuserdatauv(L, count * sizeof *ops, 0);
    for (size_t i = 0; i < count; i++) {
        luaL_checkstack(L, 8, "kernels");
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        lua_rawgeti(L, -1, 1);
        ops[i] = luaL_checkstring(L, -1);
        lua_rawgeti(L, -2, 2);
        cuda_kernel_read(L, lua_gettop(L), &kernels[i]);
        descs[i] = &kernels[i];
    }
    d->kernels = descs, d->kernel_ops = ops, d->n_kernels = count;
}

/* core.executor(name, ops, spec, registered, kernels): the executor. */
static int core_executor(lua_State *L)
{
    thunder_executor_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d, d.name = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    const bool registered = lua_toboolean(L, 4);
    lua_settop(L, 5);
    const size_t count = lua_rawlen(L, 2);
    const char **ops = lua_newuserdatauv(L, (count + 1) * sizeof *ops, 0);
    luaL_checkstack(L, (int)count + 8, "ops");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        ops[i] = luaL_checkstring(L, -1); /* the stack keeps it */
    }
    d.ops = ops, d.n_ops = count;
    if (has(L, 3, "claim")) d.claim = claim;
    if (has(L, 3, "claim_region")) d.claim_region = claim_region;
    if (has(L, 3, "transform")) d.execution_transform = execution_transform;
    if (lua_istable(L, 5)) read_kernels(L, 5, &d);
    d.prepare = prepare, d.run = run, d.drop = kept_destroy, d.destroy = destroy;
    box *made = box_push(L, BOX_EXECUTOR);
    lua_pushvalue(L, 3);
    kept *spec = registered ? registered_create(L) : kept_create(L);
    executor *self = malloc(sizeof *self);
    if (!self) {
        (registered ? registered_destroy : kept_destroy)(spec);
        return refuse_memory(L);
    }
    self->spec = spec;
    self->registered = registered, self->failed = NULL;
    d.user = self;
    thunder_executor *handle = NULL;
    check_status(L, thunder_executor_create(layer_of(L)->context, &d, &handle));
    made->handle = handle;
    return 1;
}

/* core.add_backend(name, doc, executors, names, disabled passes, tags, without fusion): texts are lists with commas. */
static int core_add_backend(lua_State *L)
{
    thunder_backend_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d, d.name = luaL_checkstring(L, 1), d.doc = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    d.executor_names = luaL_checkstring(L, 4), d.disable_passes = luaL_checkstring(L, 5), d.tags = luaL_checkstring(L, 6);
    d.no_fusion = lua_toboolean(L, 7);
    lua_settop(L, 7);
    d.n_executors = lua_rawlen(L, 3);
    thunder_executor **executors = lua_newuserdatauv(L, (d.n_executors + 1) * sizeof *executors, 0);
    for (size_t i = 0; i < d.n_executors; i++) {
        lua_rawgeti(L, 3, (lua_Integer)i + 1);
        executors[i] = box_check(L, -1, BOX_EXECUTOR); /* its table keeps it */
        lua_pop(L, 1);
    }
    d.executors = executors;
    check_status(L, thunder_context_add_backend(layer_of(L)->context, &d));
    return 0;
}

void open_executor(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"executor", core_executor}, {"add_backend", core_add_backend}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
