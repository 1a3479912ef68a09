/* Ops: one Lua function for each, over the one C function that calls them all. */
#include "lua/arguments.h"

enum { MAX_RESULTS = 8 };

/* Whether the scope's error is want of memory, and there is some now; the scope is then as it was before. */
static bool can_retry(lua_State *L, layer *state, thunder_scope *scope)
{
    thunder_status *failed = scope == state->eager ? thunder_scope_status(scope) : NULL;
    const bool again = memory_can_retry(L, state, failed);
    thunder_status_release(failed);
    if (again) scope_done(state, scope);
    return again;
}

static int call_op(lua_State *L)
{
    const signature *op = lua_touserdata(L, lua_upvalueindex(1));
    arguments c = {.signature = op, .count = 0, .named = false};
    layer *state = layer_of(L);
    arguments_read(L, &c);
    thunder_scope *scope = scope_now(L, state);
    /* An eager op's error is raised here and now, with the line in front. */
    const char *place = scope == state->eager ? NULL : script_place(L);
    const char *const *names = c.named ? c.names : NULL;
    thunder_tensor *results[MAX_RESULTS];
    thunder_values *all = NULL;
    if (scope == state->eager) memory_collect_garbage(L, state);
    do {
        lua_State *running = layer_enter(state, L); /* an op may be the script's own */
        if (op->n_results == 0)
            all = thunder_op_invoke_all(scope, op->name, c.any, (size_t)c.count, names, place);
        else
            thunder_op_invoke(scope, op->name, c.any, (size_t)c.count, names, results, (size_t)op->n_results, place);
        layer_leave(state, running);
    } while (can_retry(L, state, scope));
    scope_check(L, state, scope);
    int count = op->n_results;
    if (count == 0)
        count = values_push(L, all, true);
    else
        luaL_checkstack(L, MAX_RESULTS + 4, "results");
    for (int i = 0; i < op->n_results; i++) tensor_push(L, results[i]);
    scope_done(state, scope);
    return count;
}

/* core.op(name, {parameter names}, {kinds}, number of results): the function. 0: the arguments say how many. */
static int core_op(lua_State *L)
{
    const lua_Integer results = luaL_checkinteger(L, 4);
    if (results < 0 || results > MAX_RESULTS) return refuse(L, "%s: too many results", luaL_checkstring(L, 1));
    signature_push(L);
    lua_pushcclosure(L, call_op, 1);
    return 1;
}

void open_op(lua_State *L)
{
    lua_pushcfunction(L, core_op);
    lua_setfield(L, -2, "op");
}
