/* Transforms of functions: one call of a Lua function, batched or differentiated, in the scope that is current. */
#include <string.h>

#include "lua/layer.h"

static int function_gc(lua_State *L)
{
    thunder_function **self = lua_touserdata(L, 1);
    thunder_function_release(*self);
    *self = NULL;
    return 0;
}

/* Pushes an owner of a function; uservalue 1 is the Lua function that it calls, or nil. */
static thunder_function **function_push(lua_State *L, int callable)
{
    thunder_function **self = lua_newuserdatauv(L, sizeof *self, 1);
    *self = NULL;
    if (luaL_newmetatable(L, "thunder.function")) {
        lua_pushcfunction(L, function_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    if (callable) {
        lua_pushvalue(L, callable);
        lua_setiuservalue(L, -2, 1);
    }
    return self;
}

/* The dims of the table at `index`, by leaf; false is none. A buffer of Lua's own, pushed. */
static int64_t *dims_check(lua_State *L, int index, size_t *count)
{
    *count = lua_rawlen(L, index);
    int64_t *dims = lua_newuserdatauv(L, (*count ? *count : 1) * sizeof *dims, 0);
    for (size_t i = 0; i < *count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        dims[i] = lua_isboolean(L, -1) && !lua_toboolean(L, -1) ? THUNDER_NO_DIM : luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    return dims;
}

static thunder_status *create_transformed(lua_State *L, const char *kind, thunder_function *function, thunder_function **out)
{
    const char *wrt = luaL_optstring(L, 3, NULL);
    if (strcmp(kind, "jvp") == 0) return thunder_function_jvp(function, wrt, 0, out);
    if (strcmp(kind, "vjp") == 0) return thunder_function_vjp(function, wrt, 0, out);
    if (strcmp(kind, "jacrev") == 0) return thunder_function_jacrev(function, wrt, 0, out);
    if (strcmp(kind, "jacfwd") == 0) return thunder_function_jacfwd(function, wrt, 0, out);
    if (strcmp(kind, "hessian") == 0) return thunder_function_hessian(function, wrt, out);
    return thunder_function_checkpoint(function, out);
}

static int apply_function(lua_State *L, int args, thunder_function *function)
{
    layer *state = layer_of(L);
    thunder_values *in = values_box(L);
    const lua_Integer count = (lua_getfield(L, args, "n"), lua_tointeger(L, -1));
    lua_pop(L, 1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, args, i);
        const char *wrong = values_add(L, -1, in);
        if (wrong) return refuse(L, "argument %d: %s", (int)i, wrong);
        lua_pop(L, 1);
    }
    check_status(L, thunder_values_status(in));
    thunder_scope *scope = scope_now(L, state);
    lua_State *running = layer_enter(state, L);
    thunder_values *out = thunder_function_apply(scope, function, in);
    layer_leave(state, running);
    scope_check(L, state, scope);
    const int results = values_push(L, out, thunder_scope_is_tracing(scope));
    scope_done(state, scope);
    return results;
}

static thunder_function *callable_push(lua_State *L, int index)
{
    if (!lua_isfunction(L, index)) refuse(L, "a function was expected, got %s", type_text(L, index));
    thunder_function **self = function_push(L, index);
    check_status(L, thunder_function_create(layer_of(L)->context, "function", callback_run, callback_create(L, -1), callback_destroy, self));
    return *self;
}

/* core.transform(kind, f, paths of what is differentiated by or nil, { n = , arguments.. }) */
static int core_transform(lua_State *L)
{
    const char *kind = luaL_checkstring(L, 1);
    thunder_function *function = callable_push(L, 2), **made = function_push(L, 0);
    check_status(L, create_transformed(L, kind, function, made));
    return apply_function(L, 4, *made);
}

/* core.vmap(f, dims of the arguments' leaves or nil, dims of the results or nil, randomness, { n = , arguments.. }) */
static int core_vmap(lua_State *L)
{
    size_t n_in = 0, n_out = 0;
    int64_t *in = lua_istable(L, 2) ? dims_check(L, 2, &n_in) : NULL, *to = lua_istable(L, 3) ? dims_check(L, 3, &n_out) : NULL;
    thunder_function *function = callable_push(L, 1), **made = function_push(L, 0);
    check_status(L, thunder_function_vmap(function, in, n_in, to, n_out, luaL_checkstring(L, 4), made));
    return apply_function(L, 5, *made);
}

void open_transform(lua_State *L)
{
    static const luaL_Reg functions[] = {{"transform", core_transform}, {"vmap", core_vmap}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
