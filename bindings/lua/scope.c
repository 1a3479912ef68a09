/* Scopes: running a function on a tape or in one scope, gradients, and functions of the library as values. */
#include "lua/layer.h"

/* Calls the function at 2 with what follows it, in the scope; returns how many results are on top. */
static int call_in_scope(lua_State *L, thunder_scope *scope)
{
    layer *self = layer_of(L);
    thunder_scope *outer = self->scope;
    lua_State *running = layer_enter(self, L);
    self->scope = scope;
    const int failed = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    self->scope = outer;
    layer_leave(self, running);
    if (failed) return lua_error(L);
    return lua_gettop(L) - 1;
}

/* core.scope(taped, f, ...): f(...) in one scope of its own. Inside a traced function or another tape it is f(...). */
static int core_scope(lua_State *L)
{
    layer *self = layer_of(L);
    const bool taped = lua_toboolean(L, 1);
    if (layer_recording(self)) {
        lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
        return lua_gettop(L) - 1;
    }
    box *made = box_push(L, BOX_SCOPE);
    thunder_scope *scope = NULL;
    check_status(L, thunder_scope_create(self->context, taped ? THUNDER_SCOPE_TAPED : 0, &scope));
    made->handle = scope;
    thunder_scope_set_autocast(scope, thunder_scope_autocast(scope_now(L, self)));
    lua_replace(L, 1);
    const int results = call_in_scope(L, scope);
    /* Frees what the tape holds now, not when the collector comes by. */
    thunder_scope_reset(scope);
    return results;
}

/* core.is_recording(): whether a function is being traced or a tape is running. */
static int core_is_recording(lua_State *L)
{
    lua_pushboolean(L, layer_recording(layer_of(L)));
    return 1;
}

/* core.set_autocast(dtype or nil): what it was. */
static int core_set_autocast(lua_State *L)
{
    layer *self = layer_of(L);
    const constant *dtype = lua_isnoneornil(L, 1) ? NULL : constant_test(L, 1);
    if (!lua_isnoneornil(L, 1) && (!dtype || dtype->kind != THUNDER_DTYPE))
        return refuse(L, "autocast: 'dtype' must be a dtype, got %s", type_text(L, 1));
    thunder_scope *scope = scope_now(L, self);
    const thunder_dtype before = thunder_scope_autocast(scope);
    thunder_scope_set_autocast(scope, dtype ? dtype->value : 0);
    scope_check(L, self, scope);
    if (before) constant_push(L, THUNDER_DTYPE, before);
    else lua_pushnil(L);
    return 1;
}

/* In the registry: nil, or over the ranks of which axis gradients are taken, and how: a table with axis, reduction and reduce_dtype. */
static const char grad_axis;

/* core.set_grad_axis(table or nil): what it was. */
static int core_set_grad_axis(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_istable(L, 1) && lua_getfield(L, 1, "reduce_dtype") != LUA_TNIL) {
        const constant *dtype = constant_test(L, -1);
        if (!dtype || dtype->kind != THUNDER_DTYPE) return refuse(L, "data: 'reduce_dtype' must be a dtype, got %s", type_text(L, -1));
    }
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &grad_axis);
    lua_pushvalue(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &grad_axis);
    return 1;
}

/* Pushes nothing. Requires: there is a mode. */
static thunder_values *over_ranks(lua_State *L, thunder_scope *scope, thunder_values *gradients, thunder_values *wrt)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &grad_axis);
    lua_getfield(L, -1, "axis");
    lua_getfield(L, -2, "reduction");
    lua_getfield(L, -3, "reduce_dtype");
    const char *axis = lua_tostring(L, -3), *reduction = lua_tostring(L, -2); /* the registry keeps them */
    const thunder_dtype dtype = lua_isnil(L, -1) ? 0 : constant_test(L, -1)->value;
    lua_pop(L, 4);
    return thunder_scope_reduce_gradients(scope, gradients, wrt, axis, reduction, dtype);
}

static bool is_over_ranks(lua_State *L)
{
    const bool there = lua_rawgetp(L, LUA_REGISTRYINDEX, &grad_axis) != LUA_TNIL;
    lua_pop(L, 1);
    return there;
}

/* Of the mode at hand. */
static thunder_values *gradients_of(lua_State *L, thunder_scope *scope, thunder_tensor *loss, thunder_values *wrt)
{
    thunder_values *own = thunder_scope_grad(scope, loss, wrt);
    return own && is_over_ranks(L) ? over_ranks(L, scope, own, wrt) : own;
}

/* core.reduce_gradients(gradients, by): over the ranks of the axis at hand. */
static int core_reduce_gradients(lua_State *L)
{
    layer *self = layer_of(L);
    lua_settop(L, 2);
    if (!is_over_ranks(L)) return refuse(L, "reduce_gradients: it is called in a step of th.parallel.data, and not in no_sync()");
    thunder_values *given = values_box(L), *wrt = values_box(L);
    const char *wrong = values_add(L, 1, given);
    if (!wrong) wrong = values_add(L, 2, wrt);
    if (wrong) return refuse(L, "reduce_gradients: %s", wrong);
    check_status(L, thunder_values_status(given));
    check_status(L, thunder_values_status(wrt));
    lua_State *running = layer_enter(self, L);
    thunder_values *reduced = over_ranks(L, self->scope, given, wrt);
    layer_leave(self, running);
    scope_check(L, self, self->scope);
    return values_push(L, reduced, true);
}

/* core.grad(loss, wrt): in the structure of wrt. */
static int core_grad(lua_State *L)
{
    layer *self = layer_of(L);
    thunder_tensor *loss = tensor_check(L, 1);
    lua_settop(L, 2);
    if (!layer_recording(self))
        return refuse(L, "grad_of: nothing was recorded; call it in a compiled function, or inside th.tape(function() ... end)");
    thunder_values *wrt = values_box(L);
    const char *wrong = values_add(L, 2, wrt);
    if (wrong) return refuse(L, "grad_of: argument 'wrt': %s", wrong);
    check_status(L, thunder_values_status(wrt));
    lua_State *running = layer_enter(self, L);
    thunder_values *gradients = gradients_of(L, self->scope, loss, wrt);
    layer_leave(self, running);
    scope_check(L, self, self->scope);
    return values_push(L, gradients, true);
}

void open_scope(lua_State *L)
{
    static const luaL_Reg functions[] = {{"scope", core_scope},           {"grad", core_grad},
                                         {"is_recording", core_is_recording}, {"set_autocast", core_set_autocast},
                                         {"set_grad_axis", core_set_grad_axis}, {"reduce_gradients", core_reduce_gradients},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
