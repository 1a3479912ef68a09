/* Boxes: a userdata owns one handle, and its metatable releases it. Metatables are locked; their members, which are
 * strict, are written in Lua. */
#include "lua/layer.h"

#define RELEASE(name, type) \
    static void name(void *handle) { thunder_##type##_release(handle); }
RELEASE(release_tensor, tensor)
RELEASE(release_values, values)
RELEASE(release_scope, scope)
RELEASE(release_options, options)
RELEASE(release_trace, trace)
RELEASE(release_module, module)
RELEASE(release_optimizer, optimizer)
RELEASE(release_schedule, schedule)
RELEASE(release_batches, batches)
RELEASE(release_executor, executor)
RELEASE(release_pass, pass)
RELEASE(release_mesh, mesh)
#undef RELEASE

/* NULL: a type of its own file, more than a handle. */
static const struct {
    const char *name, *shown;
    void (*release)(void *);
    int uservalues;
} types[BOX_COUNT] = {
    [BOX_TENSOR] = {"thunder.tensor", "a tensor", release_tensor, 0},
    [BOX_VALUES] = {"thunder.values", "values", release_values, 0},
    [BOX_SCOPE] = {"thunder.scope", "a scope", release_scope, 0},
    [BOX_OPTIONS] = {"thunder.options", "options", release_options, 0},
    [BOX_TRACE] = {"thunder.trace", "a trace", release_trace, 0},
    [BOX_MODULE] = {"thunder.module", "a module", release_module, 1},
    [BOX_OPTIMIZER] = {"thunder.optimizer", "an optimizer", release_optimizer, 0},
    [BOX_SCHEDULE] = {"thunder.schedule", "a schedule", release_schedule, 0},
    [BOX_BATCHES] = {"thunder.batches", "batches", release_batches, 0},
    [BOX_COMPILED] = {"thunder.compiled", "a compiled function", NULL, 0},
    [BOX_CONSTANT] = {"thunder.constant", "a dtype or a device", NULL, 0},
    [BOX_EXECUTOR] = {"thunder.executor", "an executor", release_executor, 0},
    [BOX_PASS] = {"thunder.pass", "a pass", release_pass, 0},
    [BOX_EDITOR] = {"thunder.editor", "a trace being edited", NULL, 0},
    [BOX_MESH] = {"thunder.mesh_handle", "a mesh", release_mesh, 0},
    [BOX_SIZE] = {"thunder.size", "a size that stands for any", NULL, 0},
};

const char *box_name(enum box_type type) { return types[type].name; }

box *box_push(lua_State *L, enum box_type type)
{
    box *made = lua_newuserdatauv(L, sizeof *made, types[type].uservalues);
    made->handle = NULL, made->device_bytes = 0;
    luaL_setmetatable(L, types[type].name);
    return made;
}

void *box_test(lua_State *L, int index, enum box_type type)
{
    box *found = luaL_testudata(L, index, types[type].name);
    return found ? found->handle : NULL;
}

void *userdata_check(lua_State *L, int index, enum box_type type)
{
    void *found = luaL_testudata(L, index, types[type].name);
    if (!found) refuse(L, "%s was expected, got %s", types[type].shown, type_text(L, index));
    return found;
}

void *box_check(lua_State *L, int index, enum box_type type)
{
    box *found = userdata_check(L, index, type);
    if (!found->handle) refuse(L, "%s was used after it had been closed", types[type].shown);
    return found->handle;
}

const char *type_text(lua_State *L, int index)
{
    for (int type = 0; type < BOX_COUNT; type++)
        if (luaL_testudata(L, index, types[type].name)) return types[type].shown;
    if (lua_isinteger(L, index)) return "an integer";
    switch (lua_type(L, index)) {
        case LUA_TNONE:
        case LUA_TNIL: return "nothing";
        case LUA_TNUMBER: return "a float";
        case LUA_TBOOLEAN: return "a boolean";
        case LUA_TSTRING: return "a string";
        case LUA_TTABLE: return "a table";
        case LUA_TFUNCTION: return "a function";
        default: return "a value of another type";
    }
}

/* __gc and __close, and the method close. Upvalue 1: the type. */
static int release_box(lua_State *L)
{
    const int type = (int)lua_tointeger(L, lua_upvalueindex(1));
    box *self = luaL_testudata(L, 1, types[type].name);
    if (!self) return refuse(L, "close: %s was expected, got %s", types[type].shown, type_text(L, 1));
    void *handle = self->handle;
    self->handle = NULL;
    memory_forget_device(L, self);
    self->device_bytes = 0;
    if (handle) types[type].release(handle);
    return 0;
}

void box_define(lua_State *L)
{
    for (int type = 0; type < BOX_COUNT; type++) {
        luaL_newmetatable(L, types[type].name);
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        if (types[type].release) {
            lua_pushinteger(L, type);
            lua_pushcclosure(L, release_box, 1);
            lua_pushvalue(L, -1);
            lua_setfield(L, -3, "__gc");
            lua_setfield(L, -2, "__close");
        }
        lua_pop(L, 1);
    }
}
