/* Errors: a status or a sentence becomes a Lua error that begins with the script's line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lua/layer.h"

/* Pushes "file:line: " or "". */
static void push_position(lua_State *L)
{
    const char *place = script_place(L);
    if (place)
        lua_pushfstring(L, "%s: ", place);
    else
        lua_pushliteral(L, "");
}

int refuse(lua_State *L, const char *format, ...)
{
    push_position(L);
    va_list arguments;
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    lua_concat(L, 2);
    return lua_error(L);
}

/* ---- what ran out of memory ---- */

/* Where the registry keeps the last message that says so: it is known by being the same one. */
static const char no_memory;

void note_no_memory(lua_State *L)
{
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &no_memory);
}

bool is_no_memory(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    const bool same = lua_rawgetp(L, LUA_REGISTRYINDEX, &no_memory) == LUA_TSTRING && lua_rawequal(L, index, -1);
    lua_pop(L, 1);
    return same;
}

thunder_code error_code(lua_State *L, int failed, const limits *limits)
{
    const bool without = failed == LUA_ERRMEM ? !limits || !limits->at_limit : is_no_memory(L, -1);
    return without ? THUNDER_OUT_OF_MEMORY : THUNDER_CALLBACK;
}

int refuse_memory(lua_State *L)
{
    luaL_where(L, 1);
    lua_pushliteral(L, "out of memory");
    lua_concat(L, 2);
    note_no_memory(L);
    return lua_error(L);
}

/* The message without the names of C functions in front, which the script did not call. */
static const char *skip_function_names(const char *text)
{
    while (strncmp(text, "thunder_", 8) == 0) {
        const char *end = text + strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (end[0] != ':' || end[1] != ' ') break;
        text = end + 2;
    }
    return text;
}

/* The library ends a message with " [at file:line]" or " [at file:line, layer net.0]". The line goes where it already stands in
 * front: an op failed as the script called it. A compiled function fails for a line that the script does not stand at; both are
 * told. Pushes the message. */
static void push_without_place(lua_State *L, const char *text, const char *place)
{
    static const char opens[] = " [at ", parts[] = ", ";
    const char *end = place ? strstr(text, opens) : NULL;
    for (const char *next = end; next; next = strstr(next + 1, opens)) end = next; /* the last */
    if (!end || strncmp(end + strlen(opens), place, strlen(place)) != 0) {
        lua_pushstring(L, text);
        return;
    }
    const char *after = end + strlen(opens) + strlen(place);
    if (strcmp(after, "]") == 0)
        lua_pushlstring(L, text, (size_t)(end - text));
    else if (strncmp(after, parts, strlen(parts)) == 0) {
        lua_pushlstring(L, text, (size_t)(end + strlen(opens) - text));
        lua_pushstring(L, after + strlen(parts));
        lua_concat(L, 2);
    } else
        lua_pushstring(L, text);
}

/* ---- Lua errors that statuses carry ---- */

/* What a status holds for us. Statuses end on any thread, Lua runs on one: the error object stays in a table of the
 * state under `id`, and is dropped there when the state next deals with an error. */
static const char tag[] = "lua";

/* Of a status, on any thread. The layer frees `object` as soon as it is in the list. */
static void queue_dropped_error(void *object)
{
    kept *self = object;
    layer *home = self->layer;
    self->next = atomic_load(&home->dropped);
    while (!atomic_compare_exchange_weak(&home->dropped, &self->next, self)) continue;
    layer_release(home);
}

/* Lets the collector have the errors whose status is gone. */
static void remove_dropped_errors(lua_State *L, layer *self)
{
    kept *dropped = atomic_exchange(&self->dropped, NULL);
    layer_push_table(L, TABLE_ERRORS);
    for (const kept *each = dropped; each; each = each->next) {
        lua_pushnil(L);
        lua_rawseti(L, -2, each->id);
    }
    lua_pop(L, 1);
    kept_free(dropped);
}

/* (error object, status) */
static int store_error(lua_State *L)
{
    layer *self = layer_of(L);
    remove_dropped_errors(L, self);
    layer_push_table(L, TABLE_ERRORS);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1); /* in a table of its own, so that any value, nil too, can be one */
    lua_rawseti(L, -2, self->last_error + 1);
    kept *made = malloc(sizeof *made);
    if (!made) return refuse_memory(L);
    made->layer = layer_retain(self), made->id = ++self->last_error;
    thunder_status_set_foreign(lua_touserdata(L, 2), tag, made, queue_dropped_error);
    return 0;
}

void error_attach(lua_State *L, thunder_status *status)
{
    lua_pushcfunction(L, store_error);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, status);
    if (lua_pcall(L, 2, 0, 0)) lua_pop(L, 1); /* without memory the status has its text alone */
}

/* Raises what the status carries, if that is an error of this Lua state. */
static void raise_carried(lua_State *L, layer *self, thunder_status *status)
{
    const kept *carried = thunder_status_foreign(status, tag);
    if (!carried || carried->layer != self) return;
    layer_push_table(L, TABLE_ERRORS);
    lua_rawgeti(L, -1, carried->id);
    lua_rawgeti(L, -1, 1);
    self->failed = NULL;
    thunder_status_release(status);
    remove_dropped_errors(L, self);
    lua_error(L);
}

void check_status(lua_State *L, thunder_status *status)
{
    if (!status) return;
    layer *self = layer_of(L);
    thunder_status_release(self->failed);
    self->failed = status;
    raise_carried(L, self, status);
    push_position(L);
    const char *text = thunder_status_message(status);
    push_without_place(L, skip_function_names(text), script_place(L));
    lua_concat(L, 2);
    if (thunder_status_code(status) == THUNDER_OUT_OF_MEMORY) note_no_memory(L);
    self->failed = NULL;
    thunder_status_release(status);
    lua_error(L);
}

/* core.refuse(message) */
static int core_refuse(lua_State *L) { return refuse(L, "%s", luaL_checkstring(L, 1)); }

/* core.place(): "file:line" of the script, or nil. */
static int core_place(lua_State *L)
{
    lua_pushstring(L, script_place(L));
    return 1;
}

void open_errors(lua_State *L)
{
    static const luaL_Reg functions[] = {{"refuse", core_refuse}, {"place", core_place}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
