/* Lua values that the library keeps, and how long a script's state lives for them. */
#include <stdlib.h>

#include "lua/layer.h"

/* Lets the collector have the values that the library gave up. The table of kept values is on top. */
static void remove_forgotten(lua_State *L, layer *self)
{
    kept *forgotten = atomic_exchange(&self->forgotten, NULL);
    for (const kept *each = forgotten; each; each = each->next) {
        lua_pushnil(L);
        lua_rawseti(L, -2, each->id);
    }
    kept_free(forgotten);
}

kept *kept_create(lua_State *L)
{
    layer *self = layer_of(L);
    layer_push_table(L, TABLE_KEPT);
    remove_forgotten(L, self);
    lua_insert(L, -2);
    lua_rawseti(L, -2, self->last_kept + 1);
    lua_pop(L, 1);
    kept *made = malloc(sizeof *made);
    if (!made) refuse_memory(L);
    made->layer = layer_retain(self), made->id = ++self->last_kept;
    return made;
}

void kept_push(lua_State *L, const kept *self)
{
    layer_push_table(L, TABLE_KEPT);
    lua_rawgeti(L, -1, self->id);
    lua_remove(L, -2);
}

void kept_destroy(void *user)
{
    kept *self = user;
    layer *home = self->layer;
    self->next = atomic_load(&home->forgotten);
    while (!atomic_compare_exchange_weak(&home->forgotten, &self->next, self)) continue;
    layer_release(home);
}

kept *registered_create(lua_State *L)
{
    kept *made = kept_create(L);
    atomic_fetch_add(&made->layer->registered, 1);
    return made;
}

static void close_state(lua_State *L, limits *limits)
{
    lua_close(L);
    free(limits);
}

void registered_destroy(void *user)
{
    layer *home = layer_retain(((kept *)user)->layer);
    kept_destroy(user);
    if (atomic_fetch_sub(&home->registered, 1) == 1 && home->kept) {
        limits *limits = home->limits;
        home->limits = NULL;
        close_state(home->running, limits);
    }
    layer_release(home);
}

void layer_finish(lua_State *L)
{
    layer *self = layer_of(L);
    void *limits;
    lua_getallocf(L, &limits);
    if (!self || !atomic_load(&self->registered)) {
        if (self) self->limits = NULL;
        close_state(L, limits);
        return;
    }
    /* The context has the registrations: to hold it here would keep both for ever. */
    lua_gc(L, LUA_GCCOLLECT);
    thunder_scope_release(self->eager);
    self->eager = NULL;
    self->kept = true;
    thunder_context_release(self->context);
}
