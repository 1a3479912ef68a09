/* Optimisers: an update rule over a table of parameters; its state is a module. */
#include "lua/layer.h"

static thunder_optimizer *optimizer_check(lua_State *L, int index) { return box_check(L, index, BOX_OPTIMIZER); }

static thunder_values *tree_check(lua_State *L, int index, const char *what)
{
    thunder_values *values = values_box(L);
    if (!lua_istable(L, index)) refuse(L, "%s are a table of tensors, not %s", what, type_text(L, index));
    /* The tree's entries are the top of the values, as thunder_module_parameters() fills them. */
    const char *wrong = values_add(L, index, values);
    if (wrong) refuse(L, "%s: %s", what, wrong);
    return values;
}

/* core.optimizer(kind, parameters, options); parameters nil: groups are added. */
static int core_optimizer(lua_State *L)
{
    const char *kind = luaL_checkstring(L, 1);
    lua_settop(L, 3);
    thunder_values *parameters = lua_isnil(L, 2) ? NULL : tree_check(L, 2, "parameters");
    thunder_options *options = options_check(L, 3);
    box *made = box_push(L, BOX_OPTIMIZER);
    thunder_optimizer *optimizer = NULL;
    check_status(L, thunder_optimizer_create(layer_of(L)->context, kind, parameters, options, &optimizer));
    made->handle = optimizer;
    layer_note_made(layer_of(L));
    return 1;
}

/* core.add_group(optimizer, parameters, options) */
static int core_add_group(lua_State *L)
{
    thunder_optimizer *optimizer = optimizer_check(L, 1);
    lua_settop(L, 3);
    thunder_values *parameters = tree_check(L, 2, "parameters");
    check_status(L, thunder_optimizer_add_group(optimizer, parameters, options_check(L, 3)));
    return 0;
}

/* A function that gives the loss and the gradients, while a step calls it; its address is the function's key. */
typedef struct closure {
    layer *layer;
    bool recorded;
    thunder_values *out;
} closure;

static int run_closure(lua_State *L)
{
    closure *self = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_rawgetp(L, LUA_REGISTRYINDEX, self);
    lua_call(L, 0, LUA_MULTRET);
    for (int i = 1, last = lua_gettop(L); i <= last; i++) {
        const char *wrong = values_add(L, i, self->out);
        if (wrong) luaL_error(L, "result %d of the function: %s", i, wrong);
    }
    return 0;
}

/* Of a step that is recorded, its ops are; else it is an ordinary call, in which compiled functions run as such. */
static thunder_status *evaluate(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    (void)in;
    closure *self = user;
    self->out = out;
    return layer_run(self->layer, run_closure, self, self->recorded ? scope : NULL);
}

/* Pushes the first loss. */
static int step_closure(lua_State *L, layer *state, thunder_optimizer *optimizer)
{
    closure self = {state, layer_recording(state), NULL};
    lua_pushvalue(L, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &self);
    thunder_scope *scope = scope_now(L, state);
    lua_State *running = layer_enter(state, L);
    thunder_tensor *loss = thunder_optimizer_step_closure(scope, optimizer, evaluate, &self);
    layer_leave(state, running);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &self);
    scope_check(L, state, scope);
    tensor_push(L, loss);
    scope_done(state, scope);
    return 1;
}

static bool callable(lua_State *L, int index)
{
    if (lua_isfunction(L, index)) return true;
    const bool has = !lua_istable(L, index) && luaL_getmetafield(L, index, "__call") != LUA_TNIL;
    if (has) lua_pop(L, 1);
    return has;
}

/* core.step(optimizer, gradients), or a function that gives the loss and them. */
static int core_step(lua_State *L)
{
    layer *state = layer_of(L);
    thunder_optimizer *optimizer = optimizer_check(L, 1);
    if (lua_isnoneornil(L, 2))
        return refuse(L, "step: gradients are missing: step(th.grad_of(loss, parameters)), or a function that gives the loss and them");
    if (callable(L, 2)) return step_closure(L, state, optimizer);
    thunder_values *gradients = tree_check(L, 2, "gradients");
    thunder_scope *scope = scope_now(L, state);
    thunder_optimizer_step(scope, optimizer, gradients);
    scope_check(L, state, scope);
    scope_done(state, scope);
    return 0;
}

/* core.set_number(optimizer, name, number) */
static int core_set_number(lua_State *L)
{
    thunder_optimizer *optimizer = optimizer_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    if (lua_type(L, 3) != LUA_TNUMBER) return refuse(L, "'%s' of an optimizer is a number, not %s", name, type_text(L, 3));
    check_status(L, thunder_optimizer_set_f64(optimizer, name, lua_tonumber(L, 3)));
    return 0;
}

/* core.clip(gradients, bound, by_norm): the clipped ones and, by norm, the norm before. */
static int core_clip(lua_State *L)
{
    layer *state = layer_of(L);
    thunder_values *gradients = tree_check(L, 1, "gradients");
    if (lua_type(L, 2) != LUA_TNUMBER) return refuse(L, "gradients are clipped to a number, not %s", type_text(L, 2));
    const double bound = lua_tonumber(L, 2);
    const bool by_norm = lua_toboolean(L, 3);
    thunder_scope *scope = scope_now(L, state);
    thunder_tensor *norm = NULL;
    thunder_values *clipped =
        by_norm ? thunder_clip_grad_norm(scope, gradients, bound, &norm) : thunder_clip_grad_value(scope, gradients, bound);
    scope_check(L, state, scope);
    int results = values_push(L, clipped, true);
    if (by_norm) {
        tensor_push(L, norm);
        results++;
    }
    scope_done(state, scope);
    return results;
}

/* The schedules of the list at `index`; the array is left on the stack. */
static thunder_schedule **parts_push(lua_State *L, int index, size_t count)
{
    thunder_schedule **parts = lua_newuserdatauv(L, (count + 1) * sizeof(thunder_schedule *), 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        parts[i] = box_check(L, -1, BOX_SCHEDULE);
        lua_pop(L, 1);
    }
    return parts;
}

/* core.schedule(kind, optimizer or list of schedules, options) */
static int core_schedule(lua_State *L)
{
    const char *kind = luaL_checkstring(L, 1);
    lua_settop(L, 3);
    const bool composed = lua_istable(L, 2);
    thunder_options *options = options_check(L, 3);
    const size_t count = composed ? (size_t)lua_rawlen(L, 2) : 0;
    thunder_schedule **parts = composed ? parts_push(L, 2, count) : NULL;
    box *made = box_push(L, BOX_SCHEDULE);
    thunder_schedule *schedule = NULL;
    if (composed)
        check_status(L, thunder_schedule_compose(kind, parts, count, options, &schedule));
    else
        check_status(L, thunder_schedule_create(optimizer_check(L, 2), kind, options, &schedule));
    made->handle = schedule;
    return 1;
}

/* core.schedule_step(schedule), or with a metric. */
static int core_schedule_step(lua_State *L)
{
    thunder_schedule *schedule = box_check(L, 1, BOX_SCHEDULE);
    if (lua_isnoneornil(L, 2))
        check_status(L, thunder_schedule_step(schedule));
    else
        check_status(L, thunder_schedule_step_metric(schedule, luaL_checknumber(L, 2)));
    return 0;
}

void open_optimizer(lua_State *L)
{
    static const luaL_Reg functions[] = {{"optimizer", core_optimizer},
                                         {"add_group", core_add_group},
                                         {"step", core_step},
                                         {"set_number", core_set_number},
                                         {"clip", core_clip},
                                         {"schedule", core_schedule},
                                         {"schedule_step", core_schedule_step},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
