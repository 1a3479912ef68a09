/* The beginning and the end of a layer, with the context that it has. */
#define _POSIX_C_SOURCE 200809L
#include "lua/layer.h"

#include <stdlib.h>

/* The state closes. Handles in other boxes may go before or after: each keeps what it needs alive. */
static int close_layer(lua_State *L)
{
    layer **slot = lua_touserdata(L, 1);
    layer *self = *slot;
    *slot = NULL;
    if (!self) return 0;
    self->running = NULL;
    thunder_scope_release(self->eager);
    thunder_status_release(self->failed);
    if (!self->kept) thunder_context_release(self->context);
    self->eager = NULL, self->failed = NULL, self->context = NULL;
    layer_release(self);
    return 0;
}

static void make_tables(lua_State *L)
{
    for (int i = 0; i < TABLE_COUNT; i++) {
        lua_newtable(L);
        /* A callback finds its function through a userdata that Lua alone keeps alive, so that cycles of functions and
         * modules can be collected. */
        if (i == TABLE_CALLBACKS) {
            lua_createtable(L, 0, 1);
            lua_pushliteral(L, "v");
            lua_setfield(L, -2, "__mode");
            lua_setmetatable(L, -2);
        }
        lua_rawsetp(L, LUA_REGISTRYINDEX, &layer_table_keys[i]);
    }
}

void layer_note_made(layer *self)
{
    if (self->scope && thunder_scope_is_tracing(self->scope)) self->made_traced = true;
}

layer *layer_open(lua_State *L, thunder_context *context)
{
    make_tables(L);
    layer **slot = lua_newuserdatauv(L, sizeof *slot, 0);
    *slot = NULL;
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, close_layer);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    layer *self = calloc(1, sizeof *self);
    if (!self) refuse_memory(L);
    atomic_init(&self->uses, 1);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&self->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    *slot = self;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    self->running = lua_tothread(L, -1);
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &layer_key);
    if (context) {
        self->context = thunder_context_retain(context);
        return self;
    }
    const thunder_hooks hooks = layer_hooks(self);
    check_status(L, thunder_context_create(&hooks, &self->context));
    return self;
}
