/* The state of the layer: one context for each Lua state, and the scope that ops go to. */
#define _POSIX_C_SOURCE 200809L
#include "lua/layer.h"

#include <stdlib.h>
#include <string.h>

static const char layer_key = 0;
static const char table_keys[TABLE_COUNT] = {0};

struct place {
    struct place *next;
    char text[];
};

layer *layer_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &layer_key);
    layer **slot = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return slot ? *slot : NULL;
}

layer *layer_retain(layer *self)
{
    atomic_fetch_add(&self->uses, 1);
    return self;
}

void layer_release(layer *self)
{
    if (!self || atomic_fetch_sub(&self->uses, 1) != 1) return;
    errors_free(atomic_load(&self->dropped));
    kept_free(atomic_load(&self->forgotten));
    for (struct place *place = self->places; place;) {
        struct place *next = place->next;
        free(place);
        place = next;
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

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
        lua_rawsetp(L, LUA_REGISTRYINDEX, &table_keys[i]);
    }
}

void layer_push_table(lua_State *L, enum layer_table which) { lua_rawgetp(L, LUA_REGISTRYINDEX, &table_keys[which]); }

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

thunder_scope *scope_now(lua_State *L, layer *self)
{
    if (self->scope) return self->scope;
    if (!self->eager) check_status(L, thunder_scope_create(self->context, 0, &self->eager));
    return self->eager;
}

void scope_done(layer *self, thunder_scope *scope)
{
    if (scope == self->eager && !self->scope) thunder_scope_reset(scope);
}

void scope_check(lua_State *L, layer *self, thunder_scope *scope)
{
    thunder_status *status = thunder_scope_status(scope);
    if (!status) return;
    scope_done(self, scope);
    check_status(L, status);
}

const char *script_place(lua_State *L)
{
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline <= 0 || strncmp(frame.source, "=thunder.", 9) == 0) continue;
        layer_push_table(L, TABLE_PLACES);
        lua_pushfstring(L, "%s:%d", frame.short_src, frame.currentline);
        lua_pushvalue(L, -1);
        lua_rawget(L, -3);
        struct place *place = lua_touserdata(L, -1);
        if (!place) {
            layer *self = layer_of(L);
            size_t bytes;
            const char *text = lua_tolstring(L, -2, &bytes);
            place = malloc(sizeof *place + bytes + 1);
            if (!place) refuse_memory(L);
            memcpy(place->text, text, bytes + 1);
            place->next = self->places;
            self->places = place;
            lua_pushvalue(L, -2);
            lua_pushlightuserdata(L, place);
            lua_rawset(L, -5);
        }
        lua_pop(L, 3);
        return place->text;
    }
    return NULL;
}
