/* Functions of Lua that the library calls: the one place where Lua runs inside C++, always under lua_pcall. */
#include <stdlib.h>
#include <string.h>

#include "lua/layer.h"

typedef struct callback {
    layer *layer;
    lua_Integer id; /* in the table of callbacks: the userdata whose uservalue 1 is the function */
    bool symbols;   /* what stands for any is an object in it */
    bool warns;     /* once, of what its trace keeps that no call checks */
} callback;

callback *callback_create(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    layer *self = layer_of(L);
    layer_push_table(L, TABLE_CALLBACKS);
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, self->last_callback + 1);
    lua_pop(L, 1);
    callback *made = malloc(sizeof *made);
    if (!made) refuse_memory(L);
    made->layer = layer_retain(self), made->symbols = made->warns = false;
    made->id = ++self->last_callback;
    return made;
}

void callback_give_symbols(callback *self) { self->symbols = true; }
void callback_warn_of_edges(callback *self) { self->warns = true; }

void callback_destroy(void *user)
{
    callback *self = user;
    layer_release(self->layer);
    free(self);
}

typedef struct frame {
    callback *callback;
    thunder_scope *scope;
    const thunder_values *in;
    thunder_values *out;
} frame;

/* Pushes the function, and itself in front of the arguments if it is a method; returns how many arguments that is. */
static int push_function(lua_State *L, const callback *self)
{
    layer_push_table(L, TABLE_CALLBACKS);
    if (lua_rawgeti(L, -1, self->id) == LUA_TNIL) luaL_error(L, "the function was collected: keep what was compiled");
    lua_getiuservalue(L, -1, 1);
    if (!lua_istable(L, -1)) return 0;
    lua_getfield(L, -1, "forward");
    lua_pushvalue(L, -3);
    return 1;
}

static int run(lua_State *L)
{
    frame *f = lua_touserdata(L, 1);
    const bool traced = thunder_scope_is_tracing(f->scope);
    layer *state = layer_of(L);
    state->symbols = traced && (state->symbols || f->callback->symbols); /* as they are for the function that calls this one */
    const bool made_before = state->made_traced;
    state->made_traced = false;
    int count = push_function(L, f->callback);
    const int first_result = lua_gettop(L) - count, owner = first_result - 1;
    const bool captures = traced && count == 0 && luaL_testudata(L, owner, box_name(BOX_COMPILED));
    if (captures) captured_find(L, owner);
    count += values_push(L, f->in, traced);
    const bool asked = traced && thunder_scope_sharp_edge(f->scope, NULL, NULL);
    if (asked || (traced && f->callback->warns)) edges_watch(L, asked ? NULL : &f->callback->warns);
    lua_call(L, count, LUA_MULTRET);
    if (captures) captured_drop_changed(L, owner);
    const int last = lua_gettop(L);
    for (int i = first_result; i <= last; i++) {
        const char *wrong = values_add(L, i, f->out);
        if (wrong) luaL_error(L, "result %d of the function: %s", i - first_result + 1, wrong);
    }
    lua_settop(L, owner);
    /* Each call is to have its own of what a traced function makes and gives up, which the library sees by who has it. */
    if (state->made_traced) lua_gc(L, LUA_GCCOLLECT);
    state->made_traced |= made_before;
    return 0;
}

/* Adds the traceback to a message that has none; leaves any other error object alone. */
static int add_traceback(lua_State *L)
{
    if (lua_tostring(L, 1) && !is_no_memory(L, 1)) traceback_add(L, 1);
    return 1;
}

/* Of the error on top, for hosts that do not know Lua's objects. */
static const char *error_text(lua_State *L)
{
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    return text ? text : "a Lua function raised an error object";
}

static thunder_status *create_failure(const char *text) { return thunder_status_create(THUNDER_CALLBACK, text, strlen(text)); }

static thunder_status *run_locked(layer *self, lua_State *L, lua_CFunction body, void *data, thunder_scope *scope)
{
    const int top = lua_gettop(L);
    lua_pushcfunction(L, add_traceback);
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, data);
    limits_begin(L, self->limits);
    const hook_state before = current_hook(L);
    const int failed = lua_pcall(L, 1, 0, top + 1);
    edges_end(L, &before);
    limits_end(L, self->limits);
    thunder_status *status = NULL;
    if (failed) {
        /* An op that failed is the scope's first error and stays so; the Lua error that it became goes with it. */
        if (scope) status = thunder_scope_status(scope);
        /* Code that asks for a number may refuse an object: it is traced again with numbers then. */
        thunder_code code = error_code(L, failed, self->limits);
        if (code == THUNDER_CALLBACK && self->sizes_given) code = THUNDER_INVALID_ARGUMENT;
        if (!status) status = thunder_status_create(code, error_text(L), strlen(error_text(L)));
        error_attach(L, status);
    }
    lua_settop(L, top);
    return status;
}

thunder_status *layer_run(layer *self, lua_CFunction body, void *data, thunder_scope *scope)
{
    pthread_mutex_lock(&self->lock);
    lua_State *L = self->running;
    thunder_status *status = NULL;
    thunder_scope *outer = self->scope, *eager = self->eager;
    const bool symbols = self->symbols;
    if (!symbols) self->sizes_given = false;
    self->scope = scope;
    /* The eager scope may be in the middle of the op that this is called by. */
    if (!scope) self->eager = NULL;
    if (!L)
        status = create_failure("the Lua state of this function is closed");
    else if (!lua_checkstack(L, 8))
        status = create_failure("the Lua stack is full");
    else
        status = run_locked(self, L, body, data, scope);
    if (!scope) {
        thunder_scope_release(self->eager);
        self->eager = eager;
    }
    self->scope = outer, self->symbols = symbols;
    pthread_mutex_unlock(&self->lock);
    return status;
}

thunder_status *callback_run(thunder_scope *scope, const thunder_values *in, thunder_values *out, void *user)
{
    callback *self = user;
    frame f = {self, scope, in, out};
    return layer_run(self->layer, run, &f, scope);
}
