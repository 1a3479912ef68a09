/* The state of the layer, of which each Lua state has one. */
#define _POSIX_C_SOURCE 200809L
#include "lua/layer.h"

#include <stdlib.h>
#include <string.h>

const char layer_key = 0;
const char layer_table_keys[TABLE_COUNT] = {0};

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

void kept_free(kept *forgotten)
{
    while (forgotten) {
        kept *next = forgotten->next;
        free(forgotten);
        forgotten = next;
    }
}

void layer_release(layer *self)
{
    if (!self || atomic_fetch_sub(&self->uses, 1) != 1) return;
    kept_free(atomic_load(&self->dropped));
    kept_free(atomic_load(&self->forgotten));
    for (struct place *place = self->places; place;) {
        struct place *next = place->next;
        free(place);
        place = next;
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void layer_push_table(lua_State *L, enum layer_table which) { lua_rawgetp(L, LUA_REGISTRYINDEX, &layer_table_keys[which]); }

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
            if (!place) { /* a place is never worth an error */
                lua_pop(L, 3);
                return NULL;
            }
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
