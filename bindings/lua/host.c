/* Functions about the machine and the library as a whole that the Lua part needs. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include <unistd.h>

#include "lua/layer.h"

/* core.suggest(name, names): how an error about an unknown name ends; `names` has the valid ones as keys. */
static int core_suggest(lua_State *L)
{
    lua_settop(L, 2);
    const char *name = luaL_tolstring(L, 1, NULL);
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, 2)) count++, lua_pop(L, 1);
    const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
    count = 0;
    lua_pushnil(L);
    while (lua_next(L, 2)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING) names[count++] = lua_tostring(L, -1);
    }
    thunder_values *out = values_box(L);
    return values_answer(L, out, thunder_suggest(name, names, count, out));
}

/* core.set_stance(name): the name of the one before. */
static int core_set_stance(lua_State *L)
{
    thunder_context *context = layer_of(L)->context;
    lua_pushstring(L, thunder_context_stance(context));
    check_status(L, thunder_context_set_stance(context, luaL_checkstring(L, 1)));
    return 1;
}

/* core.is_terminal(): whether people see standard error as it is written. */
static int core_is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty(STDERR_FILENO));
    return 1;
}

/* core.is_tracing(): whether a function is being traced. */
static int core_is_tracing(lua_State *L)
{
    thunder_scope *scope = layer_of(L)->scope;
    lua_pushboolean(L, scope && thunder_scope_is_tracing(scope));
    return 1;
}

/* core.clock(): seconds that only go forward. */
static int core_clock(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
    return 1;
}

/* core.metatable(name): so that the Lua part adds members. */
static int core_metatable(lua_State *L)
{
    lua_pushfstring(L, "thunder.%s", luaL_checkstring(L, 1));
    luaL_getmetatable(L, lua_tostring(L, -1));
    return 1;
}

static int core_version(lua_State *L)
{
    const uint32_t v = thunder_version();
    lua_pushfstring(L, "%d.%d.%d", (int)(v / 10000), (int)(v / 100 % 100), (int)(v % 100));
    return 1;
}

/* core.seed(integer) */
static int core_seed(lua_State *L)
{
    if (!lua_isinteger(L, 1)) return refuse(L, "seed: an integer was expected, got %s", type_text(L, 1));
    const int64_t state[2] = {lua_tointeger(L, 1), 0};
    check_status(L, thunder_tensor_write(thunder_context_random(layer_of(L)->context), state, sizeof state));
    return 0;
}

/* core.initial_seed(): what the numbers are drawn after, given or not. */
static int core_initial_seed(lua_State *L)
{
    int64_t state[2] = {0, 0};
    check_status(L, thunder_tensor_read(thunder_context_random(layer_of(L)->context), state, sizeof state));
    lua_pushinteger(L, state[0]);
    return 1;
}

/* core.tensor_text(t): as PyTorch prints it, by what core.set_printoptions(table) said. */
static int core_tensor_text(lua_State *L)
{
    thunder_values *out = values_box(L);
    int32_t concrete;
    thunder_status *failed = tensor_materialized(L, tensor_check(L, 1), &concrete);
    if (thunder_status_code(failed) == THUNDER_EXPIRED) /* its text says that it was traced */
        thunder_status_release(failed);
    else
        check_status(L, failed);
    return values_answer(L, out, thunder_tensor_text(layer_of(L)->context, tensor_check(L, 1), NULL, out));
}

void open_host(lua_State *L)
{
  static const luaL_Reg functions[] = {
                                       {"without_limit", core_without_limit},
                                       {"suggest", core_suggest},
                                       {"set_stance", core_set_stance},
                                       {"is_terminal", core_is_terminal},
                                       {"clock", core_clock},
                                       {"metatable", core_metatable},
                                       {"version", core_version},
                                       {"seed", core_seed},
                                       {"initial_seed", core_initial_seed},
                                       {"tensor_text", core_tensor_text},
                                       {"is_tracing", core_is_tracing},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
