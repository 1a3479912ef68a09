/* The library's hooks into a Lua state that owns its context: warnings, and whether to interrupt. */
#include <stdio.h>
#include <string.h>

#include "lua/layer.h"

/* ---- interrupts ---- */

/* Does nothing: a hook that the host set on each call runs as this begins. */
static int do_nothing(lua_State *L)
{
    (void)L;
    return 0;
}

static bool has_call_hook(lua_State *L) { return lua_gethook(L) && (lua_gethookmask(L) & LUA_MASKCALL); }

/* Calls `do_nothing`. An error of the hook is left on the stack, with the script's line in front where it is a text without. */
static bool hook_raises(lua_State *L)
{
    lua_pushcfunction(L, do_nothing);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK) return false;
    const char *place = script_place(L), *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (!place || !text || strncmp(text, place, strlen(place)) == 0) return true;
    lua_pushfstring(L, "%s: %s", place, text);
    lua_remove(L, -2);
    return true;
}

/* Hosts interrupt Lua by a hook that their signal handler sets on the main coroutine, where it would wait until the program
 * has ended. It runs between the steps instead, on the coroutine that called. */
static bool is_interrupted(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *first = lua_tothread(L, -1);
    lua_pop(L, 1);
    if (has_call_hook(L)) return hook_raises(L);
    if (L == first || lua_gethook(L) || !has_call_hook(first)) return false;
    const lua_Hook hook = lua_gethook(first);
    const int mask = lua_gethookmask(first), count = lua_gethookcount(first);
    lua_sethook(first, NULL, 0, 0);
    lua_sethook(L, hook, mask, count);
    if (hook_raises(L)) return true;
    lua_sethook(L, NULL, 0, 0);
    lua_sethook(first, hook, mask, count);
    return false;
}

static thunder_status *check_interrupts(void *user)
{
    layer *self = user;
    lua_State *L = self->running;
    if (!L || !lua_checkstack(L, 8) || !is_interrupted(L)) return NULL;
    static const char text[] = "the script was interrupted";
    thunder_status *status = thunder_status_create(THUNDER_CANCELLED, text, sizeof text - 1);
    error_attach(L, status);
    return status;
}

/* ---- the log ---- */

enum { WARNING = 2 };

/* On any thread, so that no Lua code can have it. */
static void print_log(int32_t level, const char *component, const char *text, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    fprintf(stderr, "thunder: %s: %s\n", level >= WARNING ? "warning" : component, text);
}

static void destroy(void *user) { layer_release(user); }

thunder_hooks layer_hooks(layer *self)
{
    return (thunder_hooks){.size = sizeof(thunder_hooks), .user = layer_retain(self), .log = print_log,
                           .destroy = destroy, .check_interrupts = check_interrupts};
}
